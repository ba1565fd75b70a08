"use strict";
const form = document.forms[0];
const claims = [...document.querySelectorAll(".claim")];
function filter() {
  const paper = form.paper.value, verdict = form.verdict.value, level = form.level.value;
  const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const claim of claims) {
    const text = claim.dataset.text;
    const fits = (!paper || claim.dataset.paper === paper) && (!verdict || claim.dataset.verdict === verdict) &&
      (!level || claim.dataset.level === level) && words.every((word) => text.includes(word));
    claim.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  for (const part of document.querySelectorAll(".paper"))
    part.hidden = ![...part.querySelectorAll(".claim")].some((claim) => !claim.hidden);
  document.getElementById("count").textContent = `${shown} of ${claims.length} claims`;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.closest("[hidden]")) { form.reset(); filter(); target.scrollIntoView(); }
});
filter();
