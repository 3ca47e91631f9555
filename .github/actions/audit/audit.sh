#!/usr/bin/env bash
# Installs tiltmeter, runs the audit and decides on its exit code. Also for other pipelines: it reads variables alone.
# INSTALL="" leaves the installing out.
set -euo pipefail
[ -z "${INSTALL-.}" ] || python -m pip install --quiet "${INSTALL-.}"
options=(--junit "$OUT/junit.xml" --out "$OUT" --model "$MODEL")
while IFS= read -r threshold; do
  [ -z "${threshold// }" ] || options+=(--fail-if "$threshold")
done <<<"${THRESHOLDS-}"
read -r -a more <<<"${ARGUMENTS-}"
mkdir -p "$OUT"
code=0
python -m tiltmeter run "$PROTOCOL" "${options[@]}" "${more[@]}" || code=$?
echo "code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
if [ "$code" = 4 ] && [ "${INCONCLUSIVE:-pass}" = pass ]; then
  echo "Inconclusive: the interval holds both sides of a threshold. More samples or items decide it." >&2
  exit 0
fi
exit "$code"
