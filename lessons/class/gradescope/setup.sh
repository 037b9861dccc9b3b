#!/usr/bin/env bash
# Gradescope runs this once, as root, to make the image that grades: Ferry is built already; installed is only what a
# student's program is compiled and linked with.
set -euo pipefail
cd "$(dirname "$0")"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev libopenblas-dev libzip-dev

prefix=${AUTOGRADER_FERRY:-/opt/ferry}
rm -rf "$prefix"
mkdir -p "$(dirname "$prefix")"
cp -r ferry "$prefix"
chmod -R u+rwX,go+rX,go-w "$prefix"
chmod 755 "$prefix"/bin/*
[[ ! -e secret ]] || chmod 600 secret # programs run as another user

# Does it work here? A program that only answers passes a check or two.
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
printf '#include <ferry.h>\n\nint main(void)\n{\n    fy_answer("y", fy_zeros((2)));\n}\n' >"$trial/01-where-am-i.c"
if ! FERRY_MY=$trial "$prefix/bin/ferry" grade 01 --gradescope "$trial/results.json" || ! grep -q '"passed"' "$trial/results.json"; then
    echo "ferry does not work in this image: run make gradescope on the same system, or an older one, than $(. /etc/os-release && echo "$PRETTY_NAME")" >&2
    exit 1
fi
