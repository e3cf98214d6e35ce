"use strict";
const SHOWN = 200;

// Sends a file and shows its rows; a single graph is shown like a molecule.
async function openFile(file) {
  const single = /\.(graphml|json)$/i.test(file.name);
  const query = new URLSearchParams({ name: file.name });
  if (explained.calibrated) query.set("coverage", COVERAGE);
  const what = single ? "explain" : "predict";
  const path = `/api/models/${encodeURIComponent(explained.name)}/file/${what}?${query}`;
  await working(async (current) => {
    const body = await file.arrayBuffer();
    const answer = await ask(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body });
    if (!current()) return;
    if (single) showPanels(answer.rows, {});
    else {
      clearPanels();
      showRows(file.name, answer.rows);
    }
  });
}
function showRows(name, rows) {
  const bad = rows.filter((row) => row.problem !== null).length;
  const columns = Object.keys(rows[0]).filter((column) => column !== "problem" && column !== "outside" && !/^(position \d|share\()/.test(column));
  const header = html("tr", {}, ...columns.map((column) => html("th", {}, column)));
  const body = rows.slice(0, SHOWN).map((row) => rowOf(row, columns));
  const count = `${rows.length} row${rows.length > 1 ? "s" : ""}${bad ? `, ${bad} of them could not be used` : ""}${rows.length > SHOWN ? `; the first ${SHOWN} are shown` : ""}.`;
  const save = html("button.button", { type: "button", onclick: () => saveRows(name, rows) }, "Save all as CSV");
  byId("rows").replaceChildren(html("h2", {}, name), html("p.lead", {}, count, takesSmiles() ? " Choose one to see why." : ""), save,
    html("div.scroll", {}, html("table", {}, html("thead", {}, header), html("tbody", {}, ...body))));
  byId("rows").hidden = false;
  byId("rows").scrollIntoView();
}
function rowOf(row, columns) {
  if (row.problem !== null) {
    const shown = [row.id, row.smiles].filter((text) => text).join("  ");
    return html("tr.unusable", {}, html("td", { colspan: columns.length }, `${shown}: ${row.problem}`));
  }
  const cells = columns.map((column) => {
    if (column !== "smiles" || !takesSmiles()) return html("td", {}, cell(row[column]));
    return html("td", {}, html("button.link", { type: "button", onclick: () => showSmiles(row.smiles) }, row.smiles));
  });
  return html("tr", {}, ...cells);
}
const cell = (value) => (typeof value === "number" ? decimal(value) : String(value ?? ""));
function saveRows(name, rows) {
  const columns = Object.keys(rows[0]);
  const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))];
  const text = lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  saveFile(`${name}.predictions.csv`, text, "text/csv");
}
function saveFile(download, text, type) {
  const link = html("a", { href: URL.createObjectURL(new Blob([text], { type })), download });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

byId("choose").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", () => {
  const [file] = byId("file").files;
  byId("file").value = "";
  if (file) openFile(file);
});
addEventListener("dragover", (event) => { event.preventDefault(); byId("drop").hidden = false; });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) byId("drop").hidden = true; });
addEventListener("drop", (event) => {
  event.preventDefault();
  byId("drop").hidden = true;
  const [file] = event.dataTransfer.files;
  if (file) openFile(file);
});
