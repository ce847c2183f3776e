#!/usr/bin/env python3
"""Keys and types of a launchd user agent, after launchd.plist(5): launchd-check.py FILE. Ends with 1 where one is wrong."""
import plistlib
import sys

TEXT, FLAG, NUMBER, LIST, DICT = str, bool, int, list, dict
KEYS = {
    "Label": TEXT, "Disabled": FLAG, "UserName": TEXT, "GroupName": TEXT, "LimitLoadToSessionType": (TEXT, LIST),
    "Program": TEXT, "BundleProgram": TEXT, "ProgramArguments": LIST, "EnableGlobbing": FLAG, "EnableTransactions": FLAG,
    "EnablePressuredExit": FLAG, "KeepAlive": (FLAG, DICT), "RunAtLoad": FLAG, "RootDirectory": TEXT,
    "WorkingDirectory": TEXT, "EnvironmentVariables": DICT, "Umask": (NUMBER, TEXT), "TimeOut": NUMBER,
    "ExitTimeOut": NUMBER, "ThrottleInterval": NUMBER, "InitGroups": FLAG, "WatchPaths": LIST, "QueueDirectories": LIST,
    "StartOnMount": FLAG, "StartInterval": NUMBER, "StartCalendarInterval": (DICT, LIST), "StandardInPath": TEXT,
    "StandardOutPath": TEXT, "StandardErrorPath": TEXT, "SoftResourceLimits": DICT, "HardResourceLimits": DICT,
    "Nice": NUMBER, "ProcessType": TEXT, "AbandonProcessGroup": FLAG, "LowPriorityIO": FLAG,
    "LowPriorityBackgroundIO": FLAG, "MaterializeDatalessFiles": FLAG, "LaunchOnlyOnce": FLAG, "MachServices": DICT,
    "Sockets": DICT, "LaunchEvents": DICT, "SessionCreate": FLAG, "LegacyTimers": FLAG,
    "AssociatedBundleIdentifiers": (TEXT, LIST),
}
KEEP_ALIVE = {"SuccessfulExit": FLAG, "Crashed": FLAG, "NetworkState": FLAG, "PathState": DICT, "OtherJobEnabled": DICT,
              "AfterInitialDemand": FLAG}
LIMITS = {"Core", "CPU", "Data", "FileSize", "MemoryLock", "NumberOfFiles", "NumberOfProcesses", "ResidentSetSize", "Stack"}


def of_type(value, wanted):
    # A flag is a number to Python, and not to launchd.
    return type(value) in (wanted if isinstance(wanted, tuple) else (wanted,))


def faults(agent):
    if not isinstance(agent, dict):
        yield "the root is no dictionary"
        return
    for key, value in agent.items():
        if key not in KEYS:
            yield f"unknown key {key}"
        elif not of_type(value, KEYS[key]):
            yield f"{key} is {type(value).__name__}"
    if not agent.get("Label"):
        yield "no Label"
    arguments = agent.get("ProgramArguments") or []
    if not all(isinstance(word, str) for word in arguments):
        yield "ProgramArguments holds something other than strings"
    program = agent.get("Program") or (arguments[0] if arguments else "")
    if not str(program).startswith("/"):
        yield f"the program is not absolute: {program}"
    for key in ("StandardOutPath", "StandardErrorPath", "WorkingDirectory"):
        if key in agent and not str(agent[key]).startswith("/"):
            yield f"{key} is not absolute: {agent[key]}"
    keep = agent.get("KeepAlive")
    for key, value in (keep.items() if isinstance(keep, dict) else []):
        if key not in KEEP_ALIVE or not of_type(value, KEEP_ALIVE[key]):
            yield f"KeepAlive.{key} is unknown or of the wrong type"
    for key, value in (agent.get("EnvironmentVariables") or {}).items():
        if not isinstance(value, str) or "$" in value or value.startswith("~"):
            yield f"EnvironmentVariables.{key} is no string, or one that is not expanded"
    for key in ("SoftResourceLimits", "HardResourceLimits"):
        for name, value in (agent.get(key) or {}).items():
            if name not in LIMITS or not of_type(value, NUMBER):
                yield f"{key}.{name} is unknown or no number"


def main(path):
    try:
        with open(path, "rb") as file:
            agent = plistlib.load(file)
    except Exception as error:  # Whatever the reader says: it is none.
        print(f"{path}: not a property list: {error}")
        return 1
    found = list(faults(agent))
    for fault in found:
        print(f"{path}: {fault}")
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
