#!/bin/sh
# Sets up a fresh Debian machine with Node 20: bubblewrap and ripgrep from the distribution, then the package itself.
# Works as root, with sudo, and as a plain user (who gets bubblewrap unpacked into the cache folder).
set -eu
cd "$(dirname "$0")/.."

missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v rg >/dev/null 2>&1 || missing="$missing ripgrep"
if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ]; then
    root=""
  elif sudo -n true 2>/dev/null; then
    root="sudo"
  else
    root="none"
  fi
  if [ "$root" = none ]; then
    tools="${XDG_CACHE_HOME:-$HOME/.cache}/turnwright/tools"
    mkdir -p "$tools"
    echo "turnwright: no root here; unpacking$missing into $tools" >&2
    for package in $missing; do
      (cd "$tools" && apt-get download "$package" >/dev/null && dpkg -x "$package"_*.deb . && rm -f "$package"_*.deb) ||
        echo "turnwright: could not get $package; ask an administrator for: apt-get install$missing" >&2
    done
  else
    echo "turnwright: installing$missing" >&2
    { $root apt-get install -y $missing || { $root apt-get update && $root apt-get install -y $missing; }; } >/dev/null ||
      echo "turnwright: could not install$missing; commands need bubblewrap for their sandbox" >&2
  fi
fi

npm ci --no-audit --no-fund --loglevel=error
