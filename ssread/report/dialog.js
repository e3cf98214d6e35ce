const dialog = document.getElementById("opened");
const MAX_BUTTONS = 5; // of more views, a menu is offered
let turn = () => {}, showNumbers = false, rerender = () => {};

// Opens a graph among others, in a view; the address of the page then points to it.
function openGraph(graph, among, view = firstView()) {
  let current = Math.max(among.indexOf(graph), 0);
  turn = (step) => { current = (current + step + among.length) % among.length; rerender(); };
  rerender = () => {
    const focused = dialog.contains(document.activeElement) ? document.activeElement.getAttribute("data-name") : null;
    const setView = (value) => {
      view = value;
      if (value !== "positions") setTarget(value);
      rerender();
    };
    const shown = among[current];
    history.replaceState(null, "", `#graph=${encodeURIComponent(shown.id)}`);
    dialog.replaceChildren(dialogBar(shown, among.length > 1),
      html("div.body", {}, dialogPicture(shown, view, setView), dialogFacts(shown, view)));
    const again = focused ? [...dialog.querySelectorAll("[data-name]")].find((other) => other.dataset.name === focused) : null;
    (again ?? dialog).focus();
  };
  rerender();
  if (!dialog.open) dialog.showModal();
  dialog.focus();
}
function dialogBar(graph, several) {
  const button = (label, text, onclick) =>
    html("button.button", { type: "button", "aria-label": label, "data-name": label, onclick }, text);
  return html("div.top", {}, html("h3", { id: "opened-title" }, `${graph.molecule ? "Molecule" : "Graph"} ${graph.id}`),
    several ? button("previous graph", "←", () => turn(-1)) : null,
    several ? button("next graph", "→", () => turn(1)) : null,
    button("close", "Close", () => dialog.close()));
}
function dialogPicture(graph, view, setView) {
  const output = shownOutput(graph, view);
  const number = showNumbers ? (node) => (Math.abs(graph.activations[output][node]) >= 30 ? signed(contribution(graph, node, output)) : "") : null;
  const drawn = picture(graph, view, { tooltip: (node) => nodeTooltip(graph, node), number });
  const toggle = html("button.button", { type: "button", "aria-pressed": String(showNumbers), "data-name": "numbers",
    onclick: () => { showNumbers = !showNumbers; rerender(); } }, "Numbers");
  return html("div", {}, html("div.views", {}, ...viewControls(view, setView), toggle), drawn, viewLegend(view),
    showNumbers ? html("p.note", {}, `The numbers are what ${graph.molecule ? "atoms" : "nodes"} add to ${outputName(output)}.`) : null,
    ...nearestGraphs(graph));
}
// The output that numbers and sums are about: that of the view, or what is predicted.
const shownOutput = (graph, view) => (view !== "positions" ? view : isClasses ? graph.predicted[0] : target);
// Buttons for the views; of many labels or numbers, a menu.
function viewControls(view, setView) {
  const names = viewNames();
  if (names.length > MAX_BUTTONS) {
    const options = names.map(([value, text]) => html("option", { value, selected: value === view ? "" : null }, text));
    const onchange = (event) => setView(viewOf(event.target.value));
    return [html("select", { name: "dialog-view", "aria-label": "colour", "data-name": "view", onchange }, ...options)];
  }
  return names.map(([value, text]) => html("button.button", { type: "button", "aria-pressed": String(value === view),
    "data-name": `view ${value}`, onclick: () => setView(value) }, text));
}
function dialogFacts(graph, view) {
  const known = isClasses && graph.known.length ? valueText(knownValue(graph)) : null;
  const facts = [["name", graph.id], ["class", known],
    ["predicted", isClasses ? valueText(predictedValue(graph)) : null], ["part", explained.parts[graph.part] ?? null],
    [graph.molecule ? "atoms" : "nodes", numNodes(graph)], [graph.molecule ? "bonds" : "edges", graph.bonds.length / 3],
  ].filter(([, value]) => value !== null);
  return html("div", {}, definitionList(facts), ...(isNumbers ? numberFacts : probabilityBars)(graph),
    ...scoreTable(graph, shownOutput(graph, view)), nodeTable(graph, shownOutput(graph, view)),
    html("p.note", {}, contributionText()),
    downloadButton("Download as CSV", `${graph.id.replace(/[^\w.-]+/g, "_").slice(0, 60)}.csv`, () => nodeRows(graph)));
}
function probabilityBars(graph) {
  const labelled = !isClasses && graph.known.length > 0;
  const bars = graph.probabilities.flatMap((p, output) => [html("span", {}, outputName(output)),
    html("div.bar", {}, html("b", { style: `left:0;width:${p / 10}%;background:var(--accent)` })),
    html("span.value", {}, percent(p / 1000, 1)),
    labelled ? html("span.value", {}, valueText(graph.known[output])) : null]);
  const heading = labelled ? "Probability, and what is known" : "Probability";
  return [html("h4", {}, heading), html(labelled ? "div.bars.known" : "div.bars", {}, ...bars)];
}
function numberFacts(graph) {
  return graph.predicted.flatMap((predicted, output) => {
    const known = graph.known[output] ?? null, facts = [["predicted", number(predicted)]];
    if (graph.known.length) facts.push(["known", number(known)]);
    if (known !== null) facts.push(["error", number(predicted - known)]);
    return [html("h4", {}, outputName(output)), definitionList(facts)];
  });
}
// Why: the terms of a score, which add up to it.
function scoreTable(graph, output) {
  const terms = termsOf(graph, output), largest = Math.max(...terms.map(([, value]) => Math.abs(value)), 1e-9);
  const total = terms.reduce((sum, [, value]) => sum + value, 0);
  const rows = terms.map(([name, value, colour]) => html("tr", {},
    html("th", { scope: "row" }, colour ? html("i.swatch", { style: `background:${colour}` }) : null, name),
    html("td", {}, signedBar(value / largest)), html("td.num", {}, signed(value))));
  const sum = html("tr.sum", {}, html("th", { scope: "row" }, isNumbers ? "prediction" : "score"), html("td"), html("td.num", {}, signed(total)));
  return [html("h4", {}, `What adds up to ${outputName(output)}`), html("table.terms", {}, html("tbody", {}, ...rows, sum))];
}
function nodeTable(graph, output) {
  const nodes = Array.from({ length: numNodes(graph) }, (_, node) => node)
    .sort((a, b) => Math.abs(graph.activations[output][b]) - Math.abs(graph.activations[output][a]));
  const rows = nodes.map((node) => html("tr", {}, html("td", {}, nodeName(graph, node)),
    graph.positions ? html("td", {}, nameOf(graph, node)) : null,
    html("td.num", {}, signed(contribution(graph, node, output)))));
  const what = graph.molecule ? "atom" : "node";
  const head = [what, ...(graph.positions ? ["position"] : []), "adds"].map((text) => html("th", { scope: "col" }, text));
  return html("details.nodes", {}, html("summary", { "data-name": "nodes" }, `Every ${what}, the largest contribution first`),
    html("div.scroll", { tabindex: 0, role: "region", "aria-label": `contributions of every ${what}` },
      html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows))));
}
function nearestGraphs(graph) {
  const pairs = [];
  for (let i = 0; i < (graph.nearest ?? []).length; i += 2) pairs.push([explained.references[graph.nearest[i]], graph.nearest[i + 1]]);
  if (!pairs.length) return [];
  const items = pairs.map(([{ id, known, picture: drawn }, distance]) => html("li", {},
    drawn ? drawGraph({ ...drawn, id }, () => null, { label: `training molecule ${id}` }) : null,
    html("span.line", {}, html("strong", {}, id)),
    html("span.line", {}, html("span", {}, known), html("span", {}, `distance ${(distance / 100).toFixed(1)}`))));
  return [html("h4", {}, "Nearest in the training set"), html("ul.nearest", {}, ...items),
    html("p.note", {}, "A distance of 1 is usual among training graphs.")];
}
// A link to a graph: #graph=NAME.
function openLinked() {
  if (!explained || !location.hash.startsWith("#graph=")) return;
  let id = null;
  try { id = decodeURIComponent(location.hash.slice(7)); } catch { return; }
  const graph = explained.graphs.find((other) => other.id === id);
  if (graph) openGraph(graph, explained.graphs);
}
addEventListener("hashchange", openLinked);
levelListeners.push(() => { if (dialog.open) rerender(); });
dialog.addEventListener("close", () => {
  if (location.hash.startsWith("#graph=")) history.replaceState(null, "", location.pathname + location.search);
});
dialog.addEventListener("keydown", (event) => {
  if (event.target.matches("select, input, .scroll")) return;
  if (event.key === "ArrowRight") turn(1);
  if (event.key === "ArrowLeft") turn(-1);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
