const STEP = 24;
function gallery() {
  if (!shown || !shown.graphs.length) return;
  const state = { label: "", predicted: "", right: "", part: "", sure: 0, text: "", order: "given", view: String(firstView()) };
  const grid = make("ul.gallery"), count = make("p.count", { "aria-live": "polite" });
  const more = make("button.button.more", { type: "button", onclick: () => add() }, "Show more");
  const labelled = shown.graphs.some((graph) => graph.y >= 0);
  let chosen = [], there = 0;

  const options = (entries) => entries.map(([value, text]) => make("option", { value }, text));
  const pick = (name, title, entries) => make("label", {}, title, make("select", { name, onchange: (event) => { state[name] = event.target.value; refresh(); } }, ...options(entries)));
  const classes = shown.class_names.map((name, number) => [String(number), name]);
  const sure = make("span", {}, "any confidence");
  const filters = make("form.filters", { onsubmit: (event) => event.preventDefault() },
    pick("view", "Colour", [...(shown.colours.length ? [["positions", "positions"]] : []), ...classes.map(([value, name]) => [value, `activation: ${name}`])]),
    labelled ? pick("label", "Class", [["", "any"], ...classes]) : null,
    pick("predicted", "Predicted", [["", "any"], ...classes]),
    labelled ? pick("right", "Prediction", [["", "right or wrong"], ["1", "right"], ["0", "wrong"]]) : null,
    shown.parts.length ? pick("part", "Part", [["", "any"], ...shown.parts.map((name, number) => [String(number), name])]) : null,
    make("label", {}, sure, make("input", { type: "range", min: 0, max: 100, value: 0, "aria-label": "least confidence in percent", oninput: (event) => { state.sure = +event.target.value; sure.textContent = state.sure ? `at least ${state.sure} % sure` : "any confidence"; refresh(); } })),
    pick("order", "Order", [["given", "as given"], ["sure", "surest first"], ["unsure", "least sure first"], ["size", "smallest first"]]),
    make("label", {}, "Name", make("input", { type: "search", placeholder: "find a graph", oninput: (event) => { state.text = event.target.value.toLowerCase(); refresh(); } })));

  function refresh() {
    const is = (wanted, value) => wanted === "" || wanted === String(value);
    chosen = shown.graphs.filter((graph) => is(state.label, graph.y) && is(state.predicted, best(graph)) && is(state.part, graph.part)
      && is(state.right, graph.y === best(graph) ? 1 : 0) && Math.max(...graph.p) >= 10 * state.sure && graph.id.toLowerCase().includes(state.text));
    const confidence = (graph) => Math.max(...graph.p);
    const orders = { sure: (a, b) => confidence(b) - confidence(a), unsure: (a, b) => confidence(a) - confidence(b), size: (a, b) => nodes(a) - nodes(b) };
    if (orders[state.order]) chosen.sort(orders[state.order]);
    count.textContent = `${chosen.length} of ${shown.graphs.length} graphs${sampleText()}`;
    grid.replaceChildren();
    there = 0;
    add();
  }
  function add() {
    const view = state.view === "positions" ? "positions" : +state.view;
    for (const graph of chosen.slice(there, there + STEP)) grid.append(make("li", {}, thumb(graph, view)));
    there += STEP;
    more.hidden = there >= chosen.length;
  }
  function thumb(graph, view) {
    const told = best(graph), known = graph.y >= 0;
    const outcome = known ? make(`span.${told === graph.y ? "ok" : "wrong"}`, {}, told === graph.y ? "right" : "wrong") : null;
    return make("button.thumb", { type: "button", "aria-label": `graph ${graph.id}, ${known ? `class ${className(graph.y)}, ` : ""}predicted ${className(told)}`, onclick: () => openGraph(graph, chosen, view) },
      drawGraph(graph, view), make("span.line", {}, make("strong", {}, graph.id), outcome),
      make("span.line", {}, make("span", {}, className(told)), make("span", {}, percent(graph.p[told] / 1000))));
  }
  const right = Object.entries(shown.right).map(([name, share]) => `${name} ${percent(share, 1)}`).join(", ");
  section("graphs", "Graphs", right ? `Classified rightly: ${right}. Open a graph to see its positions, what speaks for each class and how sure the model is.` : "Open a graph to see its positions, what speaks for each class and how sure the model is.", filters, count, grid, more);
  refresh();
}
const sampleText = () => (shown.graphs.length < shown.total ? `, a random sample of ${shown.total.toLocaleString("en")}` : "");

const dialog = document.getElementById("opened");
let turn = () => {};
function openGraph(graph, among, view = firstView()) {
  let place = among.indexOf(graph);
  const go = (step) => { place = (place + step + among.length) % among.length; fill(); };
  turn = go;
  function fill() {
    const current = among[place], told = best(current);
    const picture = make("div");
    const views = [...(shown.colours.length ? [["positions", "Positions"]] : []), ...shown.class_names.map((name, number) => [number, `Activation: ${name}`])];
    const buttons = views.map(([value, text]) => make("button.button", { type: "button", "aria-pressed": String(value === view), onclick: () => { view = value; fill(); } }, text));
    const key = view === "positions" ? positionKey() : make("ul.key", {}, make("li", {}, make("i", { style: "background:var(--for)" }), `speaks for ${className(view)}`), make("li", {}, make("i", { style: "background:var(--against)" }), "speaks against it"));
    picture.append(make("div.views", {}, ...buttons), drawGraph(current, view, { titles: true }), key);
    const facts = [["name", current.id], ...(current.y >= 0 ? [["class", className(current.y)]] : []), ["predicted", className(told)], ...(current.part >= 0 ? [["part", shown.parts[current.part]]] : []), ["nodes", nodes(current)], ["edges", current.b.length / 3]];
    const chances = current.p.flatMap((p, number) => [make("span", {}, className(number)), make("div.bar", {}, make("b", { style: `left:0;width:${p / 10}%;background:var(--accent)` })), make("span.value", {}, percent(p / 1000, 1))]);
    const side = make("div", {}, make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))])), make("h4", {}, "Probability"), make("div.bars", {}, ...chances), make("p.note", {}, "Rest on a node to read its position, cost and activations. Arrow keys turn to the next graph."));
    const several = among.length > 1, pressed = dialog.contains(document.activeElement) ? document.activeElement.textContent : null;
    dialog.replaceChildren(make("div.top", {}, make("h3", {}, `Graph ${current.id}`),
      several ? make("button.button", { type: "button", "aria-label": "previous graph", onclick: () => go(-1) }, "←") : null, several ? make("button.button", { type: "button", "aria-label": "next graph", onclick: () => go(1) }, "→") : null,
      make("button.button", { type: "button", "aria-label": "close", onclick: () => dialog.close() }, "Close")), make("div.body", {}, picture, side));
    ([...dialog.querySelectorAll("button")].find((button) => button.textContent === pressed) ?? dialog).focus();
  }
  fill();
  if (!dialog.open) dialog.showModal();
  dialog.focus();
}
dialog.addEventListener("keydown", (event) => { if (event.key === "ArrowRight") turn(1); if (event.key === "ArrowLeft") turn(-1); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
