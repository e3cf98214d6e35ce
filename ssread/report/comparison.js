function addVerdict() {
  const comparison = data.comparison;
  if (!comparison) return;
  const points = (value, sign = "") => (value === null ? "–" : (value > 0 ? sign : "") + value.toFixed(2));
  const result = (r) => (r.mean === null ? "–" : `${r.mean.toFixed(2)} (${r.sd === null ? "–" : r.sd.toFixed(2)})`);
  const paper = (p) => (p ? `${p.mean.toFixed(2)} (${p.std.toFixed(2)})${p.significant ? "*" : ""}` : "–");
  const interval = ([low, high]) => (low === null ? "–" : `${points(low)} to ${points(high)}`);
  const verdict = (found, about) => html("p.verdict", {},
    found.verdict.charAt(0).toUpperCase() + found.verdict.slice(1), html("small", {}, about));
  const verdicts = comparison.cells.map((cell) =>
    verdict(cell, `${cell.dataset}, ${cell.arch}, ${cell.aggr}, K = ${cell.num_positions}`));
  if (comparison.together) verdicts.unshift(verdict(comparison.together, `the mean of all ${verdicts.length} cells`));
  const texts = ["dataset", "model", "aggregation"];
  const numbers = ["K", "global readout", "SSRead", "difference", "95 % interval", "p", "corrected p", "paper, global",
    "paper, SSRead"];
  const rows = comparison.cells.map((cell) => [
    cell.dataset, cell.arch, cell.aggr, String(cell.num_positions), result(cell.global), result(cell.ssread),
    points(cell.difference, "+"), interval(cell.interval), formatP(cell.p), formatP(cell.corrected_p),
    paper(cell.paper_global), paper(cell.paper_ssread)]);
  const align = (column) => (column < texts.length ? null : "num");
  const headings = [...texts, ...numbers].map((name, i) => html("th", { scope: "col", class: align(i) }, name));
  const body = rows.map((row) => html("tr", {}, ...row.map((cell, i) => html("td", { class: align(i) }, cell))));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...headings)), html("tbody", {}, ...body));
  const notes = comparison.notes.map((text) => html("p.note", {}, text));
  addSection("verdict", "Verdict", null, ...verdicts, html("div.scroll", {}, table), ...notes);
}
