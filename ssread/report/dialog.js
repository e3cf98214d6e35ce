const dialog = document.getElementById("opened");
let turn = () => {};
const MAX_BUTTONS = 5;

// Opens a graph in the dialog; the arrow keys show the others.
function openGraph(graph, among, view = firstView()) {
  let current = among.indexOf(graph);
  turn = (step) => { current = (current + step + among.length) % among.length; render(); };
  function render() {
    const focused = dialog.contains(document.activeElement) ? document.activeElement.textContent : null;
    const setView = (value) => {
      view = value;
      if (value !== "positions") setTarget(value);
      render();
    };
    dialog.replaceChildren(dialogBar(among[current], among.length > 1),
      html("div.body", {}, dialogPicture(among[current], view, setView), dialogFacts(among[current])));
    const button = [...dialog.querySelectorAll("button")].find((other) => other.textContent === focused);
    (button ?? dialog).focus();
  }
  render();
  if (!dialog.open) dialog.showModal();
  dialog.focus();
}
function dialogBar(graph, several) {
  const button = (label, text, onclick) =>
    html("button.button", { type: "button", "aria-label": label, onclick }, text);
  return html("div.top", {}, html("h3", {}, `Graph ${graph.id}`),
    several ? button("previous graph", "←", () => turn(-1)) : null,
    several ? button("next graph", "→", () => turn(1)) : null,
    button("close", "Close", () => dialog.close()));
}
function dialogPicture(graph, view, setView) {
  const picture = drawGraph(graph, view, { tooltips: true });
  return html("div", {}, html("div.views", {}, ...viewControls(view, setView)), picture, viewLegend(view));
}
// Buttons for the views; of many labels or numbers, a menu.
function viewControls(view, setView) {
  const names = viewNames("Positions", "Activation");
  if (names.length > MAX_BUTTONS) {
    const options = names.map(([value, text]) => html("option", { value, selected: value === view ? "" : null }, text));
    const onchange = (event) => setView(viewOf(event.target.value));
    return [html("select", { name: "dialog-view", "aria-label": "colour", onchange }, ...options)];
  }
  return names.map(([value, text]) => html("button.button",
    { type: "button", "aria-pressed": String(value === view), onclick: () => setView(value) }, text));
}
function dialogFacts(graph) {
  const known = isClasses && graph.known.length ? valueText(knownValue(graph)) : null;
  const facts = [["name", graph.id], ["class", known],
    ["predicted", isClasses ? valueText(predictedValue(graph)) : null], ["part", explained.parts[graph.part] ?? null],
    ["nodes", numNodes(graph)], ["edges", graph.bonds.length / 3]].filter(([, value]) => value !== null);
  const hint = "Hover over a node for its numbers. Use the arrow keys to see other graphs.";
  return html("div", {}, definitionList(facts), ...(isNumbers ? numberFacts : probabilityBars)(graph),
    html("p.note", {}, `${activationText()}${hint}`));
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
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") turn(1);
  if (event.key === "ArrowLeft") turn(-1);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
