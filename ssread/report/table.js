// Tables to download, made in the page.
// A text that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(+value.toPrecision(6));
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (rows) => rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
function downloadButton(text, name, rows) {
  const onclick = () => {
    const address = URL.createObjectURL(new Blob(["\ufeff", csv(rows())], { type: "text/csv" }));
    const link = html("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  return html("button.button", { type: "button", onclick }, text);
}
// A row for every graph: what is known and predicted, the share of each position, and the terms of each score.
function graphRows(graphs) {
  const of = (name) => (outputs.length > 1 ? `, ${name}` : "");
  const header = ["id", ...(explained.parts.length ? ["part"] : []), "nodes"];
  if (isClasses) header.push("class", "predicted", ...outputs.map(([, name]) => `p(${name})`));
  else for (const [, name] of outputs) header.push(`known(${name})`, isNumbers ? `predicted(${name})` : `p(${name})`);
  header.push(...cards().map((card) => `share(${card.name})`));
  if (!graphs.length) return [header];
  for (const [output, name] of outputs) header.push(...termsOf(graphs[0], output).map(([term]) => `contribution(${term}${of(name)})`));
  return [header, ...graphs.map((graph) => {
    const row = [graph.id, ...(explained.parts.length ? [explained.parts[graph.part] ?? ""] : []), numNodes(graph)];
    if (isClasses) {
      row.push(graph.known.length && graph.known[0] !== null ? outputName(graph.known[0]) : "", outputName(graph.predicted[0]),
        ...graph.probabilities.map((p) => p / 1000));
    } else outputs.forEach(([i]) => row.push(graph.known[i] ?? null, isNumbers ? graph.predicted[i] : graph.probabilities[i] / 1000));
    row.push(...shares(graph));
    for (const [output] of outputs) row.push(...termsOf(graph, output).map(([, value]) => value));
    return row;
  })];
}
function shares(graph) {
  if (!hasPositions) return [];
  const counts = cards().map(() => 0), kept = graph.positions.filter((position) => position >= 0);
  for (const position of kept) counts[groupOf(position)] += 1;
  return counts.map((count) => count / Math.max(kept.length, 1));
}
// A row for every node of one graph.
function nodeRows(graph) {
  const header = ["node", "label", ...(graph.positions ? ["position"] : []), ...outputs.map(([, name]) => `contribution(${name})`)];
  return [header, ...Array.from({ length: numNodes(graph) }, (_, node) => [node, graph.labels[node] ?? (graph.molecule ? "C" : ""),
    ...(graph.positions ? [nameOf(graph, node)] : []), ...outputs.map(([output]) => contribution(graph, node, output))])];
}
