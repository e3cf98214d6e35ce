const PAGE_SIZE = 24;
// The orders of the graphs, for each task: the text of the menu, and a number by which graphs ascend (unknown ones last).
const ORDERS = {
  classification: {
    confident: ["most confident first", (graph) => -probability(graph)],
    unsure: ["least confident first", probability],
  },
  multilabel: {
    probable: ["most probable first", (graph) => -probability(graph)],
    improbable: ["least probable first", probability],
    unsure: ["least certain first", (graph) => Math.abs(probability(graph) - 500)],
  },
  regression: {
    worst: ["largest error first", (graph) => (error(graph) === null ? null : -error(graph))],
    best: ["smallest error first", error],
    high: ["highest prediction first", (graph) => -predictedValue(graph)],
    low: ["lowest prediction first", predictedValue],
    highKnown: ["highest known value first", (graph) => (knownValue(graph) === null ? null : -knownValue(graph))],
    lowKnown: ["lowest known value first", knownValue],
  },
};
const NEED_KNOWN = ["worst", "best", "highKnown", "lowKnown"];

function addGallery() {
  if (!explained || !explained.graphs.length) return;
  const labelled = explained.graphs.some((graph) => graph.known.some((value) => value !== null));
  const anyUnknown = explained.graphs.some((graph) => graph.known.includes(null));
  const orders = { size: ["smallest first", numNodes], ...ORDERS[explained.task] };
  const filters = {}; // by name: whether a graph passes
  let order = "given", view = firstView(), chosen = [], page = 0;
  const grid = html("ul.gallery"), count = html("p.count", { "aria-live": "polite" }), lead = html("p.lead");
  const where = html("span", { "aria-live": "polite" });
  const step = (label, text, by) => html("button.button", { type: "button", "aria-label": label,
    onclick: () => { page += by; showPage(); grid.scrollIntoView({ block: "start" }); } }, text);
  const back = step("previous page", "←", -1), on = step("next page", "→", 1);
  const pager = html("nav.pager", { "aria-label": "Pages of graphs" }, back, where, on);

  function refresh() {
    chosen = explained.graphs.filter((graph) => Object.values(filters).every((passes) => passes(graph)));
    if (orders[order]) {
      const by = orders[order][1];
      chosen.sort((a, b) => (by(a) ?? Infinity) - (by(b) ?? Infinity) || 0);
    }
    const { graphs, total } = explained;
    const sample = graphs.length < total ? `, a random sample of ${total.toLocaleString("en")}` : "";
    count.textContent = `${chosen.length.toLocaleString("en")} of ${graphs.length.toLocaleString("en")} graphs${sample}`;
    lead.textContent = `${successText()}${isNumbers ? contributionText() : ""}${hint()}`;
    page = 0;
    showPage();
  }
  // Only one page of graphs is in the document at a time, so that ten thousand are no slower than ten.
  function showPage() {
    const pages = Math.max(Math.ceil(chosen.length / PAGE_SIZE), 1), start = page * PAGE_SIZE;
    const shown = chosen.slice(start, start + PAGE_SIZE);
    grid.replaceChildren(...shown.map((graph) => html("li", {}, thumbnail(graph, view, labelled, () => chosen))));
    where.textContent = `page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    back.disabled = page === 0;
    on.disabled = page + 1 >= pages;
    pager.hidden = pages === 1;
  }

  const menu = (name, title, entries, choose, selected = "") => {
    const onchange = (event) => { choose(event.target.value); refresh(); };
    const options = entries.map(([value, text]) =>
      html("option", { value, selected: value === selected ? "" : null }, text));
    return html("label", {}, title, html("select", { name, onchange }, ...options));
  };
  const filterBy = (name, title, any, entries, valueOf) => menu(name, title, [["", any], ...entries], (value) => {
    filters[name] = (graph) => value === "" || value === String(valueOf(graph));
  });
  const numberBox = (name, title, passes) => {
    const oninput = (event) => {
      const limit = event.target.value === "" ? null : +event.target.value;
      filters[name] = (graph) => limit === null || passes(graph, limit);
      refresh();
    };
    return html("label", {}, title, html("input", { type: "number", step: "any", name, oninput }));
  };
  const what = isNumbers ? "Number" : "Label";
  const values = (isClasses ? outputs : [[1, "yes"], [0, "no"]]).map(([value, text]) => [String(value), text]);
  const unknown = isClasses ? [] : [["null", "unknown"]];
  const outcomes = ["correct", "wrong", ...(isClasses ? [] : ["unknown"])].map((name) => [name, name]);
  const parts = explained.parts.map((name, part) => [String(part), name]);
  const offered = Object.entries(orders).filter(([name]) => labelled || !NEED_KNOWN.includes(name));
  const find = (event) => {
    const text = event.target.value.toLowerCase();
    filters.text = (graph) => graph.id.toLowerCase().includes(text);
    refresh();
  };
  const targetMenu = !isClasses && outputs.length > 1
    ? menu("target", what, outputs, (value) => setTarget(+value), target) : null;
  const viewMenu = menu("view", "Colour", viewNames(), (value) => {
    view = viewOf(value);
    if (view !== "positions") setTarget(view);
  });
  const controls = html("form.filters", { onsubmit: (event) => event.preventDefault() }, targetMenu, viewMenu,
    ...(isNumbers ? [
      numberBox("from", "Predicted at least", (graph, limit) => predictedValue(graph) >= limit),
      numberBox("to", "Predicted at most", (graph, limit) => predictedValue(graph) <= limit),
      labelled ? numberBox("error", "Error at least", (graph, limit) => (error(graph) ?? -1) >= limit) : null,
      labelled && anyUnknown ? filterBy("known", "Value", "known or unknown", [["true", "known"], ["false", "unknown"]],
        (graph) => knownValue(graph) !== null) : null,
    ] : [
      labelled ? filterBy("known", isClasses ? "Class" : "Known", "any", [...values, ...unknown], knownValue) : null,
      filterBy("predicted", "Predicted", "any", values, predictedValue),
      labelled ? filterBy("outcome", "Prediction", "correct or wrong", outcomes, outcome) : null,
    ]),
    parts.length ? filterBy("part", "Part", "any", parts, (graph) => graph.part) : null,
    isNumbers ? null : probabilitySlider(filters, refresh),
    menu("order", "Order", [["given", "as given"], ...offered.map(([name, [text]]) => [name, text])],
      (value) => { order = value; }),
    html("label", {}, "Name", html("input", { type: "search", placeholder: "find a graph", oninput: find })));
  targetListeners.push(() => {
    if (targetMenu) targetMenu.querySelector("select").value = String(target);
    if (view !== "positions") view = target;
    viewMenu.querySelector("select").value = String(view);
    refresh();
  });
  levelListeners.push(showPage);
  const tools = html("div.tools", {}, count, downloadButton("Download as CSV", "graphs.csv", () => graphRows(chosen)));
  addSection("graphs", "Graphs", null, lead, controls, tools, grid, pager);
  refresh();
}
function hint() {
  const positions = hasPositions ? "its positions, " : "";
  return `Open a graph to see ${positions}what its nodes add to a prediction, and the training graphs nearest to it.`;
}
function thumbnail(graph, view, labelled, among) {
  const name = isClasses ? "" : `${outputName(target)} `;
  const known = labelled ? `${isClasses ? "class" : "known"} ${valueText(knownValue(graph))}, ` : "";
  const label = `graph ${graph.id}, ${name}${known}predicted ${valueText(predictedValue(graph))}`;
  const onclick = () => openGraph(graph, among(), view);
  return html("button.thumb", { type: "button", "aria-label": label, onclick }, picture(graph, view),
    html("span.line", {}, html("strong", {}, graph.id), labelled ? badge(graph) : null),
    html("span.line", {}, ...prediction(graph).map((text) => html("span", {}, text))));
}
function badge(graph) {
  if (!isNumbers) return html(`span.${outcome(graph)}`, {}, outcome(graph));
  return html("span.error", {}, error(graph) === null ? "unknown" : `error ${number(error(graph))}`);
}
// What is predicted, as two texts.
function prediction(graph) {
  if (isClasses) return [valueText(predictedValue(graph)), percent(probability(graph) / 1000)];
  const predicted = isNumbers ? number(predictedValue(graph)) : percent(probability(graph) / 1000);
  return [predicted, knownValue(graph) === null ? "" : `known: ${valueText(knownValue(graph))}`];
}
// The lowest confidence in the predicted class, or the lowest probability of the label.
function probabilitySlider(filters, refresh) {
  const [any, some, label] = isClasses
    ? ["any confidence", (limit) => `at least ${limit} % confident`, "lowest confidence in percent"]
    : ["any probability", (limit) => `probability at least ${limit} %`, "lowest probability in percent"];
  const text = html("span", {}, any);
  const oninput = (event) => {
    const limit = +event.target.value;
    filters.probability = (graph) => probability(graph) >= 10 * limit;
    text.textContent = limit ? some(limit) : any;
    refresh();
  };
  const range = html("input", { type: "range", min: 0, max: 100, value: 0, "aria-label": label, oninput });
  return html("label", {}, text, range);
}
