#!/bin/sh
# Cargo calls this instead of rustc. Our own code is compiled so that the fuzzer sees which ways it takes; what it stands on
# is compiled as ever.
case " $* " in
*" --crate-name workagent "* | *" --crate-name unit_text "*)
  exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
  ;;
*) exec "$@" ;;
esac
