const PAGE_SIZE = 24;
function addGallery() {
  if (!explained || !explained.graphs.length) return;
  const filter = { class: "", predicted: "", outcome: "", part: "", confidence: 0, text: "" };
  let order = "given", view = firstView(), chosen = [], numShown = 0;
  const grid = html("ul.gallery"), count = html("p.count", { "aria-live": "polite" });
  const more = html("button.button.more", { type: "button", onclick: () => showMore() }, "Show more");
  const confidence = (graph) => Math.max(...graph.probabilities);
  const outcome = (graph) => (graph.class === predictedClass(graph) ? "correct" : "wrong");
  const orders = {
    confident: (a, b) => confidence(b) - confidence(a), unsure: (a, b) => confidence(a) - confidence(b),
    size: (a, b) => numNodes(a) - numNodes(b),
  };

  function refresh() {
    const matches = (name, value) => filter[name] === "" || filter[name] === String(value);
    chosen = explained.graphs.filter((graph) => matches("class", graph.class) && matches("part", graph.part)
      && matches("predicted", predictedClass(graph)) && matches("outcome", outcome(graph))
      && confidence(graph) >= 10 * filter.confidence && graph.id.toLowerCase().includes(filter.text));
    if (orders[order]) chosen.sort(orders[order]);
    const { graphs, total } = explained;
    const sample = graphs.length < total ? `, a random sample of ${total.toLocaleString("en")}` : "";
    count.textContent = `${chosen.length} of ${graphs.length} graphs${sample}`;
    grid.replaceChildren();
    numShown = 0;
    showMore();
  }
  function showMore() {
    const next = chosen.slice(numShown, numShown + PAGE_SIZE);
    grid.append(...next.map((graph) => html("li", {}, thumbnail(graph))));
    numShown += PAGE_SIZE;
    more.hidden = numShown >= chosen.length;
  }
  function thumbnail(graph) {
    const predicted = predictedClass(graph), labelled = graph.class >= 0;
    const badge = labelled ? html(`span.${outcome(graph)}`, {}, outcome(graph)) : null;
    const known = labelled ? `class ${className(graph.class)}, ` : "";
    const label = `graph ${graph.id}, ${known}predicted ${className(predicted)}`;
    const prediction = [className(predicted), percent(confidence(graph) / 1000)];
    return html("button.thumb", { type: "button", "aria-label": label, onclick: () => openGraph(graph, chosen, view) },
      drawGraph(graph, view), html("span.line", {}, html("strong", {}, graph.id), badge),
      html("span.line", {}, ...prediction.map((text) => html("span", {}, text))));
  }

  const select = (name, title, entries, choose) => {
    const onchange = (event) => { choose(event.target.value); refresh(); };
    const options = entries.map(([value, text]) => html("option", { value }, text));
    return html("label", {}, title, html("select", { name, onchange }, ...options));
  };
  const filterBy = (name, title, any, entries) =>
    select(name, title, [["", any], ...entries], (value) => { filter[name] = value; });
  const classes = explained.class_names.map((name, number) => [String(number), name]);
  const labelled = explained.graphs.some((graph) => graph.class >= 0);
  const parts = explained.parts.map((name, number) => [String(number), name]);
  const outcomes = [["correct", "correct"], ["wrong", "wrong"]];
  const confidenceText = html("span", {}, "any confidence");
  const setConfidence = (event) => {
    filter.confidence = +event.target.value;
    confidenceText.textContent = filter.confidence ? `at least ${filter.confidence} % confident` : "any confidence";
    refresh();
  };
  const setText = (event) => { filter.text = event.target.value.toLowerCase(); refresh(); };
  const setView = (value) => { view = value === "positions" ? value : +value; };
  const controls = html("form.filters", { onsubmit: (event) => event.preventDefault() },
    select("view", "Colour", viewNames("positions", "activation"), setView),
    labelled ? filterBy("class", "Class", "any", classes) : null,
    filterBy("predicted", "Predicted", "any", classes),
    labelled ? filterBy("outcome", "Prediction", "correct or wrong", outcomes) : null,
    parts.length ? filterBy("part", "Part", "any", parts) : null,
    html("label", {}, confidenceText, html("input", { type: "range", min: 0, max: 100, value: 0,
      "aria-label": "lowest confidence in percent", oninput: setConfidence })),
    select("order", "Order", [["given", "as given"], ["confident", "most confident first"],
      ["unsure", "least confident first"], ["size", "smallest first"]], (value) => { order = value; }),
    html("label", {}, "Name", html("input", { type: "search", placeholder: "find a graph", oninput: setText })));
  const accuracy = Object.entries(explained.accuracy).map(([name, share]) => `${name} ${percent(share, 1)}`).join(", ");
  const positions = explained.colours.length ? "its positions, " : "";
  const hint = `Open a graph to see ${positions}the activation for each class and the predicted probabilities.`;
  addSection("graphs", "Graphs", accuracy ? `Accuracy: ${accuracy}. ${hint}` : hint, controls, count, grid, more);
  refresh();
}
// The views as [value, text] entries for a menu or buttons.
function viewNames(positions, activation) {
  const classes = explained.class_names.map((name, number) => [number, `${activation}: ${name}`]);
  return explained.colours.length ? [["positions", positions], ...classes] : classes;
}
