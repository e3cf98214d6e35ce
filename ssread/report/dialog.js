const dialog = document.getElementById("opened");
let turn = () => {};

// Opens a graph in the dialog; the arrow keys show the others.
function openGraph(graph, among, view = firstView()) {
  let current = among.indexOf(graph);
  turn = (step) => { current = (current + step + among.length) % among.length; render(); };
  function render() {
    const focused = dialog.contains(document.activeElement) ? document.activeElement.textContent : null;
    const setView = (value) => { view = value; render(); };
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
  const buttons = viewNames("Positions", "Activation").map(([value, text]) => html("button.button",
    { type: "button", "aria-pressed": String(value === view), onclick: () => setView(value) }, text));
  const picture = drawGraph(graph, view, { tooltips: true });
  return html("div", {}, html("div.views", {}, ...buttons), picture, viewLegend(view));
}
function dialogFacts(graph) {
  const facts = [["name", graph.id], ["class", graph.class >= 0 ? className(graph.class) : null],
    ["predicted", className(predictedClass(graph))], ["part", explained.parts[graph.part] ?? null],
    ["nodes", numNodes(graph)], ["edges", graph.bonds.length / 3]].filter(([, value]) => value !== null);
  const bars = graph.probabilities.flatMap((p, number) => [html("span", {}, className(number)),
    html("div.bar", {}, html("b", { style: `left:0;width:${p / 10}%;background:var(--accent)` })),
    html("span.value", {}, percent(p / 1000, 1))]);
  const hint = "Hover over a node for its numbers. Use the arrow keys to see other graphs.";
  return html("div", {}, definitionList(facts), html("h4", {}, "Probability"), html("div.bars", {}, ...bars),
    html("p.note", {}, hint));
}
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") turn(1);
  if (event.key === "ArrowLeft") turn(-1);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
