#!/bin/bash
# A real journald for the ring of real peers, where systemd does not run already: `journald.sh run`. Says `ready`, ends
# when its standard input does. Needs root, the package systemd, and /run to write in.
set -eu
[ "${1:-}" = run ] || { echo "usage: $0 run" >&2; exit 2; }
# The one that runs is as good as our own.
if [ -S /run/systemd/journal/socket ] && journalctl --sync 2>/dev/null; then
  echo ready; cat >/dev/null; exit 0
fi
mkdir -p /run/systemd/journal /run/log/journal /var/log/journal
# As after a boot: only below /var/log does each user have a journal of their own, which they may read.
touch /run/systemd/journal/flushed
[ -s /etc/machine-id ] || systemd-machine-id-setup >/dev/null
rm -f /run/systemd/journal/socket /run/systemd/journal/stdout /run/systemd/journal/dev-log
/lib/systemd/systemd-journald 2>/dev/null &
journald=$!
trap 'kill "$journald" 2>/dev/null || true' EXIT
for _ in $(seq 100); do journalctl --sync 2>/dev/null && break; sleep 0.1; done
journalctl --sync
echo ready
cat >/dev/null
