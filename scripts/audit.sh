#!/usr/bin/env bash
# Installs tiltmeter, runs an audit and decides on its exit code. For pipelines of any kind: it reads variables alone
# (action.yml lists them), and the folder that it is started in is the user's own.
# INSTALL names what pip installs: "none" for nothing, empty for the checkout that this script lies in.
set -euo pipefail
home=${GITHUB_ACTION_PATH:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
[ "${INSTALL:-}" = none ] || python -m pip install --quiet "${INSTALL:-$home}"
OUT=${OUT:-tiltmeter-run}
options=(--junit "$OUT/junit.xml" --out "$OUT" --model "$MODEL")
for reason in ${FAIL_ON-}; do options+=(--fail-on "${reason%,}"); done
[ -z "${MARGIN-}" ] || options+=(--margin "$MARGIN")
while IFS= read -r threshold; do
  [ -z "${threshold// }" ] || options+=(--fail-if "$threshold")
done <<<"${THRESHOLDS-}"
read -r -a more <<<"${ARGUMENTS-}"
mkdir -p "$OUT"
code=0
if [ -n "${PROMPTS-}" ]; then # a file of prompts or a log, of which both versions are asked
  begin=(audit "$PROMPTS" --swap "${SWAP:-gender}" --yes)
else
  begin=(run "$PROTOCOL")
fi
case "${INCONCLUSIVE:-fail}" in
pass) options+=(--allow not-enough) ;; # then JUnit says skipped, not error
fail) ;;
*) echo "error: inconclusive is fail or pass, not '$INCONCLUSIVE'" >&2 && exit 2 ;;
esac
[ -z "${BASELINE-}" ] || options+=(--baseline "$BASELINE" --worse-by "${WORSE_BY:-2}")
python -m tiltmeter "${begin[@]}" "${options[@]}" "${more[@]}" || code=$?
echo "code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
if [ -n "${GITHUB_STEP_SUMMARY-}" ] && python -m tiltmeter report "$OUT" --out "$OUT/summary.md" >/dev/null; then
  grep -v '^- swap: .*: `' "$OUT/summary.md" | head -c 900000 >>"$GITHUB_STEP_SUMMARY" # no prompt of a log
fi
exit "$code"
