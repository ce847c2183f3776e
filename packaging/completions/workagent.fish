# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_workagent_global_optspecs
    string join \n unit-dir= state-dir= color= no-pager h/help V/version
end

function __fish_workagent_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_workagent_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_workagent_using_subcommand
    set -l cmd (__fish_workagent_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c workagent -n "__fish_workagent_needs_command" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_needs_command" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_needs_command" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_needs_command" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_needs_command" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "init" -d 'Set up: asks what to connect and who answers, tries the logins, writes units and secrets'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "run" -d 'Run the daemon in the foreground, or one cycle'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "status" -d 'Show what each unit is doing, with ages'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "top" -d 'Watch the daemon on a full screen: what needs you, connectors, engines, drafts, what happens'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "validate" -d 'Check all unit files and show every finding'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "explain" -d 'Tell what a finding of validate means'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "backlog" -d 'Count what is there already, before a connector is switched on'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "new" -d 'Write a new unit file with all its keys in comments'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "schema" -d 'Print or write JSON schemas of unit files, for editors'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "manual" -d 'Show the reference of all keys'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "analyze" -d 'Look into the units: graph, order, exposure'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "review" -d 'Look at drafts and decide'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "case" -d 'Look at cases and their whole record'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "route" -d 'Show why cases go where they go'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "env" -d 'Show the environment of an engine\'s programs'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "cost" -d 'Show what engines cost, and where budgets stand'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "repairs" -d 'List everything that needs you, each with the one command that mends it'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "trust" -d 'How often you left drafts as they were, and what goes by itself'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "digest" -d 'Tell what happened in a day'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "outbox" -d 'Look at what is being sent'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "open" -d 'Print a link that opens the page in a browser on this machine'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "pair" -d 'Bind a channel to you: by a code, for only that account may then decide on it'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "pause" -d 'Stop claiming and sending, of everything or of one unit, for a while or until resumed'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "resume" -d 'Go on after a pause'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "kick" -d 'Run one cycle of a unit now'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "secret" -d 'Store, list and remove secrets'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "demo" -d 'Show the whole way on made-up mail, without an account or network'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "list-units" -d 'List units with what they do and how they are'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "list-unit-files" -d 'List unit files and whether they take part'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "list-timers" -d 'List everything with a schedule, the next first'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "list-dependencies" -d 'Show what a unit needs, or who needs it, as a tree'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "cat" -d 'Show the files of units, one layer after another'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "show" -d 'Show every key of a unit, and where it comes from'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "diff" -d 'Show what your files change in units'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "paths" -d 'Show where unit files come from'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "edit" -d 'Edit a unit; what has new errors is not saved'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "revert" -d 'Take back what you changed in units'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "enable" -d 'Have units take part'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "disable" -d 'Have units take part no longer'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "mask" -d 'Switch units off whatever else is said'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "unmask" -d 'Take a mask back'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "start" -d 'Take a stop of units back, or have them try again at once'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "stop" -d 'Stop units until they are started or the daemon is'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "restart" -d 'Begin units anew'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "reset-failed" -d 'Forget failures of units and the waits that follow from them'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "isolate" -d 'Stop all units but those of a target'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "reload" -d 'Have the daemon read the unit files again, and show what came of it'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "plan" -d 'Look at the plans that ran, compare them, go back to one'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "is-active" -d 'Tell whether units are active: exit code 0 or 3'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "is-failed" -d 'Tell whether units failed: exit code 0 or 1'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "is-healthy" -d 'Tell whether everything is well: exit code 0 or 1, reasons on standard error'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "is-enabled" -d 'Tell whether units take part by their files: exit code 0 or 1'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "logs" -d 'Show the daemon\'s log'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "log-level" -d 'Show or change what the running daemon logs, of all or of one unit, for a while'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "backup" -d 'Copy record, unit files and plans into one file, also while the daemon runs'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "restore" -d 'Put a backup back, after everything in it was checked; what is replaced is kept aside'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "doctor" -d 'Look for what is wrong with this setup, and how to mend it'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "service" -d 'Run the daemon as a service of yours: systemd or launchd'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "metrics" -d 'Print the state of the daemon for Prometheus'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "purge" -d 'Let go of everything that came through one connector'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "mcp" -d 'Serve cases to an agent over MCP: it reads and proposes, and cannot send'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "confined" -d 'Become another program with fewer rights: how the daemon starts what it confines'
complete -c workagent -n "__fish_workagent_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand init" -l answers -d 'Take the answers from this file and ask nothing' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand init" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand init" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand init" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand init" -l dry-run -d 'Show what would be written, and write nothing'
complete -c workagent -n "__fish_workagent_using_subcommand init" -l print-answers -d 'Print a file for --answers: a template, or with --dry-run the answers that were given; writes nothing'
complete -c workagent -n "__fish_workagent_using_subcommand init" -l live -d 'End the rehearsal: from now on what you approve is sent'
complete -c workagent -n "__fish_workagent_using_subcommand init" -l no-service -d 'Do not ask whether to install the service'
complete -c workagent -n "__fish_workagent_using_subcommand init" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand init" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand run" -l log -d 'What to log: a level, or a filter such as info,inbox.connector=debug (default: the daemon unit\'s)' -r
complete -c workagent -n "__fish_workagent_using_subcommand run" -l log-file -d 'Write the log to this file, which is rotated; for a service manager that keeps none' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand run" -l log-format -d 'How lines of the log look (default: the daemon unit\'s)' -r -f -a "text\t''
json\t''"
complete -c workagent -n "__fish_workagent_using_subcommand run" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand run" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand run" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand run" -l once -d 'Do one cycle over all runtimes, print its summary, and end'
complete -c workagent -n "__fish_workagent_using_subcommand run" -l json -d 'Print the summary of --once as JSON'
complete -c workagent -n "__fish_workagent_using_subcommand run" -l rehearse -d 'Rehearse: read and draft as ever, and hold what is approved instead of sending it'
complete -c workagent -n "__fish_workagent_using_subcommand run" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand run" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand status" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand status" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand status" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand status" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand status" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand status" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand top" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand top" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand top" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand top" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand top" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l format -d 'How to print findings' -r -f -a "human\t'With the lines they are about, for people'
short\t'One line each'
github\t'Workflow commands for GitHub\'s CI'
json\t'One JSON document, stable'"
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l root -d 'Check the system below this directory: an image, a package being built' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l stdin-name -d 'What the text on standard input (`-`) is called: `inbox.connector.toml`, or the path of the file being edited' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l explain -d 'Tell what a finding means, and check nothing' -r
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l json -d 'Print one JSON document; the same as `--format json`'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l strict -d 'Exit with 3 if there are warnings'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l fix -d 'Make the edits that leave no choice, show them, and check what is left'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l probe -d 'Try live, too: programs, secrets, logins; exit with 1 if something is missing'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand validate" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand explain" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand explain" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand explain" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand explain" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand explain" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand explain" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand backlog" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand new" -l from -d 'The shipped unit to begin with: `imap`, `feed`, `openai-chat`' -r
complete -c workagent -n "__fish_workagent_using_subcommand new" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand new" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand new" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand new" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand new" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand schema" -l write -d 'Write all of them as KIND.json into a directory; by default into `schema` beside your `units`, where the first line of unit files finds them' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand schema" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand schema" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand schema" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand schema" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand schema" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l write -d 'Write man pages and completions into `man` and `completions` of this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l man -d 'For `man`, as roff'
complete -c workagent -n "__fish_workagent_using_subcommand manual" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand manual" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand manual" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand completions" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand completions" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand completions" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand completions" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand completions" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "verify" -d 'Check all unit files; the same as `workagent validate`'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "dot" -d 'Draw the graph of the units'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "critical-chain" -d 'Show what a unit starts after, and when that was up'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "calendar" -d 'Show when calendar expressions come round'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "condition" -d 'Show each condition and whether it holds'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "unit-paths" -d 'Show where unit files are looked for'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "security" -d 'Judge how much each connector and engine is open to, with reasons'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and not __fish_seen_subcommand_from verify dot critical-chain calendar condition unit-paths security help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l format -d 'How to print findings' -r -f -a "human\t'With the lines they are about, for people'
short\t'One line each'
github\t'Workflow commands for GitHub\'s CI'
json\t'One JSON document, stable'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l root -d 'Check the system below this directory: an image, a package being built' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l stdin-name -d 'What the text on standard input (`-`) is called: `inbox.connector.toml`, or the path of the file being edited' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l explain -d 'Tell what a finding means, and check nothing' -r
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l json -d 'Print one JSON document; the same as `--format json`'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l strict -d 'Exit with 3 if there are warnings'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l fix -d 'Make the edits that leave no choice, show them, and check what is left'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l probe -d 'Try live, too: programs, secrets, logins; exit with 1 if something is missing'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l format -d 'What to write' -r -f -a "dot\t'Text for Graphviz'
mermaid\t'Text for Mermaid'
svg\t'A picture'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l all -d 'Units too that are off and have to do with nothing, and the runtimes'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from dot" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from critical-chain" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l iterations -d 'Times to show' -r
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l base-time -d 'Count from this moment instead of now: `2026-03-28T00:00:00Z`, `2026-03-28`, "2026-03-28 12:00"' -r
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from calendar" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from condition" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from unit-paths" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l threshold -d 'Exit with 1 if a unit\'s exposure is above this, 0 to 10' -r
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from security" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check all unit files; the same as `workagent validate`'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "dot" -d 'Draw the graph of the units'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "critical-chain" -d 'Show what a unit starts after, and when that was up'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "calendar" -d 'Show when calendar expressions come round'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "condition" -d 'Show each condition and whether it holds'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "unit-paths" -d 'Show where unit files are looked for'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "security" -d 'Judge how much each connector and engine is open to, with reasons'
complete -c workagent -n "__fish_workagent_using_subcommand analyze; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -l plain -d 'Ask line by line, as where there is no terminal to draw on'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "list" -d 'List drafts that wait for you, oldest first'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "show" -d 'Show a draft: what it answers with hidden parts, who gets it, and why it went to its engine'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "edit" -d 'Edit a draft in $VISUAL or $EDITOR, and show the difference'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "approve" -d 'Approve drafts: they are sent after the undo window'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "reject" -d 'Reject a draft'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "defer" -d 'Put a draft away for a while'
complete -c workagent -n "__fish_workagent_using_subcommand review; and not __fish_seen_subcommand_from list show edit approve reject defer help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l deferred -d 'Deferred ones too'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l file -d 'Take the new text from this file, or from standard input with `-`' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l with -d 'Do this too, out of what `review show` lists: `close`, `label: bug`; the text stays as it is' -r
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l without -d 'Do not do this; a verb alone (`label`) takes all of its kind' -r
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from edit" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l hash -d 'Only if the draft still has this hash (or a beginning of it of at least 8 digits)' -r
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l stale-ok -d 'Although the thread moved on after the draft was made'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from approve" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -s m -l note -d 'Why; with --retry the engine gets to read it' -r
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -l retry -d 'Have the engine try again'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from reject" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from defer" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "list" -d 'List drafts that wait for you, oldest first'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a draft: what it answers with hidden parts, who gets it, and why it went to its engine'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "edit" -d 'Edit a draft in $VISUAL or $EDITOR, and show the difference'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "approve" -d 'Approve drafts: they are sent after the undo window'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "reject" -d 'Reject a draft'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "defer" -d 'Put a draft away for a while'
complete -c workagent -n "__fish_workagent_using_subcommand review; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "list" -d 'List cases, newest change first'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "show" -d 'Show the whole record of one case, from item to receipt'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "answer" -d 'Answer the question of a parked case; its engine goes on with the answer'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "retry" -d 'Give a parked, dead or dismissed case one more try'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "replay" -d 'Run a case once more by an engine, and show what it says beside the draft; nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "take-over" -d 'Say that you answered by hand: its draft is withdrawn, and nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "dismiss" -d 'Say that there is nothing to do here'
complete -c workagent -n "__fish_workagent_using_subcommand case; and not __fish_seen_subcommand_from list show answer retry replay take-over dismiss help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l state -d 'Only in this state: new, queued, running, review, approved, sent, closed, parked, dead, dismissed' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l label -d 'Only with this label, which an engine proposed' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l limit -d 'At most so many' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l parked -d 'Only those that wait for a time, a person or an answer, with what each waits for'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l prompt -d 'Show what an engine was told, exactly: of this run, or of the newest' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from answer" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from retry" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l engine -d 'The engine that runs it; by default the one that it is routed to' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l prompt -d 'A file with a prompt in place of the route\'s' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from replay" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from take-over" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -l reason -d 'Why, for the record' -r
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from dismiss" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "list" -d 'List cases, newest change first'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the whole record of one case, from item to receipt'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "answer" -d 'Answer the question of a parked case; its engine goes on with the answer'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "retry" -d 'Give a parked, dead or dismissed case one more try'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "replay" -d 'Run a case once more by an engine, and show what it says beside the draft; nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "take-over" -d 'Say that you answered by hand: its draft is withdrawn, and nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "dismiss" -d 'Say that there is nothing to do here'
complete -c workagent -n "__fish_workagent_using_subcommand case; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -f -a "explain" -d 'Show why a case goes to its engine: by the record, and by the routes as they are now'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -f -a "test" -d 'Show where something would go by the unit files; no daemon is asked'
complete -c workagent -n "__fish_workagent_using_subcommand route; and not __fish_seen_subcommand_from explain test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from explain" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l connector -d 'As if it came from this connector; by default what the file says, else the only connector there is' -r
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l at -d 'As if it came at this moment, `2026-12-01T22:00:00+01:00`' -r
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l answered -d 'As if its writer had been written to before; without it only the lists of the daemon\'s unit count'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Show why a case goes to its engine: by the record, and by the routes as they are now'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from help" -f -a "test" -d 'Show where something would go by the unit files; no daemon is asked'
complete -c workagent -n "__fish_workagent_using_subcommand route; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -f -a "show" -d 'Show which variables an engine\'s programs get, and from where; an engine may add its own, such as its home'
complete -c workagent -n "__fish_workagent_using_subcommand env; and not __fish_seen_subcommand_from show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l route -d 'In cases of this route, which may add to it' -r
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show which variables an engine\'s programs get, and from where; an engine may add its own, such as its home'
complete -c workagent -n "__fish_workagent_using_subcommand env; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l by -d 'What runs are put together by: day, engine, case or route' -r
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l since -d 'From when on: an age such as `7d`, or a day such as `2026-11-01`' -r
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l limit -d 'At most so many rows (those that cost most, or the newest days)' -r
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l svg -d 'Print a picture (SVG): columns by day, bars by anything else'
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l json -d 'Print JSON; amounts are millionths of a US dollar'
complete -c workagent -n "__fish_workagent_using_subcommand cost" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand cost" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand cost" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand repairs" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand trust" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand trust" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand trust" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand trust" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand trust" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand trust" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand trust" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l day -d 'The day, `2026-11-30`, `today` or `yesterday`' -r
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l markdown -d 'Print Markdown, for a note or a mail'
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand digest" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand digest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand digest" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -f -a "list" -d 'List sends, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -f -a "cancel" -d 'Take back a send that has not left yet'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -f -a "dismiss" -d 'Take note of a send that was given up: it is no news any more, and its case is dismissed'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -f -a "release" -d 'Decide about a held send: send it (again)'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and not __fish_seen_subcommand_from list cancel dismiss release help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l state -d 'Only in this state: approved, sending, sent, uncertain, held, dead, cancelled' -r
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l limit -d 'At most so many' -r
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from cancel" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -l all -d 'All that were given up'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from dismiss" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -l was-sent -d 'It did arrive: record it as sent instead of sending it'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from release" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from help" -f -a "list" -d 'List sends, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from help" -f -a "cancel" -d 'Take back a send that has not left yet'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from help" -f -a "dismiss" -d 'Take note of a send that was given up: it is no news any more, and its case is dismissed'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from help" -f -a "release" -d 'Decide about a held send: send it (again)'
complete -c workagent -n "__fish_workagent_using_subcommand outbox; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand open" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand open" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand open" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand open" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand open" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand open" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l remove -d 'Undo it: the channel tells nothing and takes no decisions until it is paired again'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l no-wait -d 'Show the code and come back, without waiting for it to be said'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand pair" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand pause" -l for -d 'End the pause by itself after this: `30m`, `2h`, `1d`' -r
complete -c workagent -n "__fish_workagent_using_subcommand pause" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand pause" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand pause" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand pause" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand pause" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand resume" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand resume" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand resume" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand resume" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand resume" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand kick" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand kick" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand kick" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand kick" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand kick" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand kick" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "set" -d 'Store a value, asked for at the terminal or read from standard input'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "login" -d 'Log in at the platform of a connector, with a client of your own, and store the token'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "list" -d 'List names, where they are kept, ages, who reads them; never values'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "test" -d 'Read a value and tell that it is there, how old it is and who uses it; a locked keyring may ask for its password'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "rotate" -d 'Replace a value now, as its unit says: `how = "command"`, "oauth" or "ask"'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "remove" -d 'Remove a value'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and not __fish_seen_subcommand_from set login list test rotate remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from set" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from login" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from rotate" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "set" -d 'Store a value, asked for at the terminal or read from standard input'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "login" -d 'Log in at the platform of a connector, with a client of your own, and store the token'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "list" -d 'List names, where they are kept, ages, who reads them; never values'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "test" -d 'Read a value and tell that it is there, how old it is and who uses it; a locked keyring may ask for its password'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "rotate" -d 'Replace a value now, as its unit says: `how = "command"`, "oauth" or "ask"'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove a value'
complete -c workagent -n "__fish_workagent_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l dir -d 'Write the demo into this empty or new directory instead of a temporary one' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l yes -d 'Approve every draft and check the outcome'
complete -c workagent -n "__fish_workagent_using_subcommand demo" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand demo" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l state -d 'Only units in this state: active, inactive, failed, loaded, masked, ok, failing, … (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -s t -l type -d 'Only units of this kind: connector, engine, env, route, runtime, … (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -s a -l all -d 'Those that are off, too'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l failed -d 'Only those that fail; the same as `--state failed,failing,broken`'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand list-units" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l state -d 'Only units in this state: enabled, disabled, static, template, masked, bad (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -s t -l type -d 'Only units of this kind: connector, engine, env, route, runtime, … (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand list-unit-files" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -s t -l type -d 'Only units of this kind: connector, engine, env, route, runtime, … (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -s a -l all -d 'Those that are off, too'
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand list-timers" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -s r -l reverse -d 'Who needs it'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -s a -l all -d 'Units that are off, mere order and conflicts too, and everything below a unit each time it comes up'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand list-dependencies" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand cat" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand cat" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand cat" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand cat" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand cat" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand cat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand cat" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand show" -s p -l property -d 'Only this key: `schedule.every`, `every` (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand show" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand show" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand show" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand show" -l origin -d 'With the place of each value, and what it replaces in lower files'
complete -c workagent -n "__fish_workagent_using_subcommand show" -l value -d 'Only the values'
complete -c workagent -n "__fish_workagent_using_subcommand show" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand show" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand show" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand diff" -s t -l type -d 'Only units of this kind: connector, engine, env, route, runtime, … (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand diff" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand diff" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand diff" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand diff" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand diff" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand diff" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand paths" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand paths" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand paths" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand paths" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand paths" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand paths" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand paths" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l full -d 'Edit a whole copy in your own directory instead of a drop-in with the keys that differ'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l runtime -d 'Only until the machine is switched off: write into the runtime directory'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l force -d 'Let a text with new errors be saved, if you say so when asked'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand edit" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand revert" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand revert" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand revert" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand revert" -s y -l yes -d 'Do not ask'
complete -c workagent -n "__fish_workagent_using_subcommand revert" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand revert" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand revert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand revert" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l runtime -d 'Only until the machine is switched off: write into the runtime directory'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l now -d 'Have the running daemon take it over at once, and wait for that'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand enable" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l runtime -d 'Only until the machine is switched off: write into the runtime directory'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l now -d 'Have the running daemon take it over at once, and wait for that'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand disable" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l runtime -d 'Only until the machine is switched off: write into the runtime directory'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l now -d 'Have the running daemon take it over at once, and wait for that'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand mask" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l runtime -d 'Only until the machine is switched off: write into the runtime directory'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l now -d 'Have the running daemon take it over at once, and wait for that'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand unmask" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand start" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand start" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand start" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand start" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand start" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand start" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand stop" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand stop" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand stop" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand stop" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand stop" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand stop" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand restart" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand restart" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand restart" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand restart" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand restart" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand restart" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand restart" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand reset-failed" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand isolate" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l dry-run -d 'Only say what would happen'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l service -d 'Count "nothing to do" as success, as `systemctl reload` wants it'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand reload" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "list" -d 'List the plans that are kept, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "show" -d 'Show the units of a plan, or the whole text of one of them'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "diff" -d 'Compare two plans unit by unit (default: the one that runs with what the unit files say now)'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "rollback" -d 'Go back to an earlier plan and stay there, whatever the unit files say'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "unpin" -d 'Follow the unit files again'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and not __fish_seen_subcommand_from list show diff rollback unpin help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from diff" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from rollback" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from unpin" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the plans that are kept, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the units of a plan, or the whole text of one of them'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two plans unit by unit (default: the one that runs with what the unit files say now)'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "rollback" -d 'Go back to an earlier plan and stay there, whatever the unit files say'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "unpin" -d 'Follow the unit files again'
complete -c workagent -n "__fish_workagent_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -s q -l quiet -d 'Print nothing, only set the exit code'
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand is-active" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -s q -l quiet -d 'Print nothing, only set the exit code'
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand is-failed" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -s q -l quiet -d 'Print nothing, only set the exit code'
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand is-healthy" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -s q -l quiet -d 'Print nothing, only set the exit code'
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand is-enabled" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand logs" -s u -l unit -d 'Only what is about this unit (may be given more than once)' -r
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l case -d 'Only what is about this case, `c12` or `12`; without a journal, its record' -r
complete -c workagent -n "__fish_workagent_using_subcommand logs" -s n -l lines -d 'The last so many lines' -r
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l since -d 'From then on, as journalctl reads it: `10:00`, `yesterday`, `-2h`' -r
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand logs" -s f -l follow -d 'Go on with what comes'
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l json -d 'One JSON object a line, as journalctl prints it'
complete -c workagent -n "__fish_workagent_using_subcommand logs" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand logs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand logs" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l for -d 'Go back by itself after so long, at most 30 days; else it lasts until the daemon ends' -r
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand log-level" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l secrets -d 'What becomes of secret values' -r -f -a "none\t'They stay here; unit files name them'
encrypted\t'They go along, closed with a passphrase that is asked for or read from standard input'"
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l list -d 'Only list the copies that can be put back'
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand backup" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand backup" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l dry-run -d 'Check everything and say what would be done; replace nothing'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l units -d 'Replace unit files that are there; without it they are put back only where there are none'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l secrets -d 'Take secrets out of the backup too, with its passphrase; values that are stored here stay'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand restore" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l write -d 'Write the report to this file too, after it was shown' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l report -d 'Print a report that can be posted: units are numbered, texts of settings, folders and secrets masked'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l names -d 'Keep the names of units in the report'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -f -a "install" -d 'Write the service\'s file, start it now and at each login, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -f -a "uninstall" -d 'Stop the service and remove its file; units, secrets and the record stay'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -f -a "restart" -d 'Start the service anew, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -f -a "status" -d 'Show what became of the service'
complete -c workagent -n "__fish_workagent_using_subcommand service; and not __fish_seen_subcommand_from install uninstall restart status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l manager -d 'With --print: for this one instead of the one that runs here' -r -f -a "systemd\t''
launchd\t''"
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l path -d 'The PATH of the service and its engines (default: that of your login shell)' -r
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l print -d 'Only print what would be written'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l hardened -d 'Take more rights away (systemd): no new privileges, so no programs from snaps, no sudo, no local sendmail'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l linger -d 'Keep your services running when you log out (systemd: loginctl enable-linger)'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from install" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from uninstall" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from restart" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from help" -f -a "install" -d 'Write the service\'s file, start it now and at each login, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from help" -f -a "uninstall" -d 'Stop the service and remove its file; units, secrets and the record stay'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from help" -f -a "restart" -d 'Start the service anew, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show what became of the service'
complete -c workagent -n "__fish_workagent_using_subcommand service; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand metrics" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l receipts -d 'Let go of the record of sends too: hashes, receipts, our own marks'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l yes -d 'Do not ask'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l json -d 'Print JSON'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand purge" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -l run -d 'Serve one run of an engine instead: the private directory that the daemon made for it' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand mcp" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l read -d 'May be read' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l write -d 'May be changed' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l unit-dir -d 'Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l state-dir -d 'Keep database, secrets and socket in this directory' -r -F
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l color -d 'Use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l what -d 'Print what this machine can take away, and end'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l read-all -d 'All files may be read'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l read-named -d 'Only the system\'s files may be read, and those of --read and --write'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l no-network -d 'Without a network'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l required -d 'Not at all rather than with more rights'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -l no-pager -d 'Do not show long lists in a pager'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c workagent -n "__fish_workagent_using_subcommand confined" -s V -l version -d 'Print version'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "init" -d 'Set up: asks what to connect and who answers, tries the logins, writes units and secrets'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "run" -d 'Run the daemon in the foreground, or one cycle'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "status" -d 'Show what each unit is doing, with ages'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "top" -d 'Watch the daemon on a full screen: what needs you, connectors, engines, drafts, what happens'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "validate" -d 'Check all unit files and show every finding'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "explain" -d 'Tell what a finding of validate means'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "backlog" -d 'Count what is there already, before a connector is switched on'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "new" -d 'Write a new unit file with all its keys in comments'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "schema" -d 'Print or write JSON schemas of unit files, for editors'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "manual" -d 'Show the reference of all keys'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "completions" -d 'Print completions for a shell'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "analyze" -d 'Look into the units: graph, order, exposure'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "review" -d 'Look at drafts and decide'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "case" -d 'Look at cases and their whole record'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "route" -d 'Show why cases go where they go'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "env" -d 'Show the environment of an engine\'s programs'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "cost" -d 'Show what engines cost, and where budgets stand'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "repairs" -d 'List everything that needs you, each with the one command that mends it'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "trust" -d 'How often you left drafts as they were, and what goes by itself'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "digest" -d 'Tell what happened in a day'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "outbox" -d 'Look at what is being sent'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "open" -d 'Print a link that opens the page in a browser on this machine'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "pair" -d 'Bind a channel to you: by a code, for only that account may then decide on it'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "pause" -d 'Stop claiming and sending, of everything or of one unit, for a while or until resumed'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "resume" -d 'Go on after a pause'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "kick" -d 'Run one cycle of a unit now'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "secret" -d 'Store, list and remove secrets'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "demo" -d 'Show the whole way on made-up mail, without an account or network'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "list-units" -d 'List units with what they do and how they are'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "list-unit-files" -d 'List unit files and whether they take part'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "list-timers" -d 'List everything with a schedule, the next first'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "list-dependencies" -d 'Show what a unit needs, or who needs it, as a tree'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "cat" -d 'Show the files of units, one layer after another'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "show" -d 'Show every key of a unit, and where it comes from'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "diff" -d 'Show what your files change in units'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "paths" -d 'Show where unit files come from'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "edit" -d 'Edit a unit; what has new errors is not saved'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "revert" -d 'Take back what you changed in units'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "enable" -d 'Have units take part'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "disable" -d 'Have units take part no longer'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "mask" -d 'Switch units off whatever else is said'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "unmask" -d 'Take a mask back'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "start" -d 'Take a stop of units back, or have them try again at once'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "stop" -d 'Stop units until they are started or the daemon is'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "restart" -d 'Begin units anew'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "reset-failed" -d 'Forget failures of units and the waits that follow from them'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "isolate" -d 'Stop all units but those of a target'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "reload" -d 'Have the daemon read the unit files again, and show what came of it'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "plan" -d 'Look at the plans that ran, compare them, go back to one'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "is-active" -d 'Tell whether units are active: exit code 0 or 3'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "is-failed" -d 'Tell whether units failed: exit code 0 or 1'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "is-healthy" -d 'Tell whether everything is well: exit code 0 or 1, reasons on standard error'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "is-enabled" -d 'Tell whether units take part by their files: exit code 0 or 1'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "logs" -d 'Show the daemon\'s log'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "log-level" -d 'Show or change what the running daemon logs, of all or of one unit, for a while'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "backup" -d 'Copy record, unit files and plans into one file, also while the daemon runs'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "restore" -d 'Put a backup back, after everything in it was checked; what is replaced is kept aside'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "doctor" -d 'Look for what is wrong with this setup, and how to mend it'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "service" -d 'Run the daemon as a service of yours: systemd or launchd'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "metrics" -d 'Print the state of the daemon for Prometheus'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "purge" -d 'Let go of everything that came through one connector'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "mcp" -d 'Serve cases to an agent over MCP: it reads and proposes, and cannot send'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "confined" -d 'Become another program with fewer rights: how the daemon starts what it confines'
complete -c workagent -n "__fish_workagent_using_subcommand help; and not __fish_seen_subcommand_from init run status top validate explain backlog new schema manual completions analyze review case route env cost repairs trust digest outbox open pair pause resume kick secret demo list-units list-unit-files list-timers list-dependencies cat show diff paths edit revert enable disable mask unmask start stop restart reset-failed isolate reload plan is-active is-failed is-healthy is-enabled logs log-level backup restore doctor service metrics purge mcp confined help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "verify" -d 'Check all unit files; the same as `workagent validate`'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "dot" -d 'Draw the graph of the units'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "critical-chain" -d 'Show what a unit starts after, and when that was up'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "calendar" -d 'Show when calendar expressions come round'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "condition" -d 'Show each condition and whether it holds'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "unit-paths" -d 'Show where unit files are looked for'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from analyze" -f -a "security" -d 'Judge how much each connector and engine is open to, with reasons'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "list" -d 'List drafts that wait for you, oldest first'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "show" -d 'Show a draft: what it answers with hidden parts, who gets it, and why it went to its engine'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "edit" -d 'Edit a draft in $VISUAL or $EDITOR, and show the difference'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "approve" -d 'Approve drafts: they are sent after the undo window'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "reject" -d 'Reject a draft'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from review" -f -a "defer" -d 'Put a draft away for a while'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "list" -d 'List cases, newest change first'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "show" -d 'Show the whole record of one case, from item to receipt'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "answer" -d 'Answer the question of a parked case; its engine goes on with the answer'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "retry" -d 'Give a parked, dead or dismissed case one more try'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "replay" -d 'Run a case once more by an engine, and show what it says beside the draft; nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "take-over" -d 'Say that you answered by hand: its draft is withdrawn, and nothing is sent'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from case" -f -a "dismiss" -d 'Say that there is nothing to do here'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from route" -f -a "explain" -d 'Show why a case goes to its engine: by the record, and by the routes as they are now'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from route" -f -a "test" -d 'Show where something would go by the unit files; no daemon is asked'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from env" -f -a "show" -d 'Show which variables an engine\'s programs get, and from where; an engine may add its own, such as its home'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from outbox" -f -a "list" -d 'List sends, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from outbox" -f -a "cancel" -d 'Take back a send that has not left yet'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from outbox" -f -a "dismiss" -d 'Take note of a send that was given up: it is no news any more, and its case is dismissed'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from outbox" -f -a "release" -d 'Decide about a held send: send it (again)'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "set" -d 'Store a value, asked for at the terminal or read from standard input'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "login" -d 'Log in at the platform of a connector, with a client of your own, and store the token'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "list" -d 'List names, where they are kept, ages, who reads them; never values'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "test" -d 'Read a value and tell that it is there, how old it is and who uses it; a locked keyring may ask for its password'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "rotate" -d 'Replace a value now, as its unit says: `how = "command"`, "oauth" or "ask"'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "remove" -d 'Remove a value'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "list" -d 'List the plans that are kept, newest first'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "show" -d 'Show the units of a plan, or the whole text of one of them'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "diff" -d 'Compare two plans unit by unit (default: the one that runs with what the unit files say now)'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "rollback" -d 'Go back to an earlier plan and stay there, whatever the unit files say'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "unpin" -d 'Follow the unit files again'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from service" -f -a "install" -d 'Write the service\'s file, start it now and at each login, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from service" -f -a "uninstall" -d 'Stop the service and remove its file; units, secrets and the record stay'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from service" -f -a "restart" -d 'Start the service anew, and look whether it runs'
complete -c workagent -n "__fish_workagent_using_subcommand help; and __fish_seen_subcommand_from service" -f -a "status" -d 'Show what became of the service'
