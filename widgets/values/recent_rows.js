// The iterations around the one that is shown, as rows of a table.

const KIND_TIPS = {
  ahead: "Computed ahead without changing the run: the exact value",
  forecast: "A forecast from the values so far, not proved",
};

// the last iterations, the one that is shown, and those to come: the word behind the iteration says which is which
function fillRecent(lately, { recent: rows, ahead, now: marked, beside }) {
  lately.replaceChildren();
  lately.dataset.beside = String(Boolean(beside));
  lately.style.display = rows.length + ahead.length > 1 ? "" : "none";
  const line = make("tr", "", make("thead", "", lately));
  for (const words of beside ? ["iteration", "this run", beside, "difference"] : ["iteration", "value", "change"]) make("th", "", line, words).setAttribute("scope", "col");
  const body = make("tbody", "", lately);
  const add = (cells, word) => {
    const row = make("tr", "", body);
    if (word) row.dataset.kind = word;
    row.title = KIND_TIPS[word] ?? "";
    cells.forEach((words, k) => make("td", "", row, k || !word ? words : `${words} ${word}`));
    return row;
  };
  rows.forEach((cells, k) => {
    const now = k === rows.length - 1;
    const row = add(cells, now && marked ? "now" : "");
    if (now) row.setAttribute("aria-current", "true");
  });
  for (const [iteration, value, change, kind] of ahead) add(beside ? [iteration, value, "", ""] : [iteration, value, change], kind);
}

