#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Opens the page of a result in a headless browser, light, dark and as wide as a phone, and uses it:
# page_in_browser.sh PROGRAM.  Nothing may be written to the console, and nothing may stand wider
# than the window.  Exit status 77, when there is no Chromium, means skip.
set -euo pipefail

program=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
  echo 'skipped: no Chromium to open the page with'
  exit 77
fi
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT

# What a person would do: hide a curve, point at one, choose a mode; the title says what came of it.
probe='<script>
addEventListener("load", () => {
  const faults = [];
  const curves = () => document.querySelectorAll("#curve svg path[stroke]").length;
  const button = document.querySelector("#legend button");
  if (button) {
    const before = curves();
    button.click();
    if (curves() >= before) faults.push("hiding a curve does nothing");
    button.click();
    if (curves() !== before) faults.push("a hidden curve does not come back");
    const mark = document.querySelector("#curve svg g circle, #curve svg g rect");
    const point = mark.getBoundingClientRect();
    document.querySelector("#curve svg").dispatchEvent(new PointerEvent("pointermove",
      {clientX: point.x + point.width / 2, clientY: point.y + point.height / 2, bubbles: true}));
    if (!/ns at/.test(document.getElementById("tip").textContent)) faults.push("no tip at a point");
    const label = () => document.querySelector("#curve svg text").textContent;
    const whole = document.getElementById("whole"), first = label();
    const drag = (kind, x, y) => {
      const svg = document.querySelector("#curve svg"), box = svg.getBoundingClientRect();
      svg.dispatchEvent(new PointerEvent(kind, {clientX: box.x + box.width * x, bubbles: true,
        clientY: box.y + box.height * y, pointerType: "mouse"}));
    };
    if (!whole.hidden) faults.push("the whole range is offered before anything was dragged over");
    drag("pointerdown", 0.4, 0.3);
    drag("pointermove", 0.6, 0.5);
    drag("pointerup", 0.6, 0.5);
    if (whole.hidden || label() === first) faults.push("dragging shows no part");
    whole.click();
    if (!whole.hidden || label() !== first) faults.push("the whole range does not come back");
  } else {
    faults.push("no curves");
  }
  const filter = document.getElementById("filter");
  filter.value = "all";
  filter.dispatchEvent(new Event("change"));
  const all = document.querySelectorAll("#cells tr").length;
  filter.value = "latency";
  filter.dispatchEvent(new Event("change"));
  const some = document.querySelectorAll("#cells tr").length;
  if (some < 2 || some >= all) faults.push("the filter leaves " + some + " of " + all + " rows");
  if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window");
  document.title = faults.length ? "page: " + faults.join("; ") : "page: ok";
});
</script>'

check_page() { # NAME OPTION...
  local name=$1 fault
  shift
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$scratch/user" \
    --enable-logging=stderr --virtual-time-budget=5000 --dump-dom "$@" \
    "file://$scratch/$name.html" >"$scratch/dom" 2>"$scratch/log" || return 1
  if fault=$(grep --extended-regexp 'CONSOLE|Uncaught' "$scratch/log"); then
    printf '%s %s: console: %s\n' "$name" "$*" "$fault"
    failed=1
  fi
  fault=$(sed --quiet 's/.*<title>\(page: [^<]*\)<.*/\1/p' "$scratch/dom" | head -n 1)
  if [[ $fault != 'page: ok' ]]; then
    printf '%s %s: %s\n' "$name" "$*" "${fault:-the page did not run}"
    failed=1
  fi
}

"$program" overview --smoke --html "$scratch/measured.html" >"$scratch/out"
"$program" --reference intel-snc4-eurosys24 --html "$scratch/published.html" >"$scratch/out"
failed=0
for name in measured published; do
  printf '%s\n' "$probe" >>"$scratch/$name.html"
  check_page "$name" --window-size=1200,1000
  check_page "$name" --window-size=1200,1000 --blink-settings=preferredColorScheme=0
  check_page "$name" --window-size=500,900
done
exit "$failed"
