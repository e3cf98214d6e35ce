const tip = document.getElementById("tip");
function map() {
  if (!shown || !shown.map.g.length) return;
  const places = shown.map.xy, prototypes = shown.map.prototypes;
  const xs = [...places, ...prototypes].filter((_, i) => i % 2 === 0), ys = [...places, ...prototypes].filter((_, i) => i % 2 === 1);
  const ends = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  const size = Math.max(ends[2] - ends[0], ends[3] - ends[1], 1), pad = size * 0.04, r = size / 170;
  const svg = draw("svg", { viewBox: `${ends[0] - pad} ${ends[1] - pad} ${ends[2] - ends[0] + 2 * pad} ${ends[3] - ends[1] + 2 * pad}`, role: "img", "aria-label": "t-SNE map of node vectors" });
  const layers = new Map(), hint = "Point at a dot to see its graph; press it to open the graph.";
  const aside = make("aside", {}, make("p.note", {}, hint));
  shown.map.g.forEach((g, i) => {
    const graph = shown.graphs[g], node = shown.map.n[i], k = graph.k ? graph.k[node] : 0;
    if (!layers.has(k)) layers.set(k, draw("g"));
    const colour = graph.k ? shown.colours[k] ?? "var(--faint)" : "var(--accent)";
    layers.get(k).append(draw("circle", { cx: places[2 * i], cy: places[2 * i + 1], r, fill: colour, "fill-opacity": 0.8, "data-i": i }));
  });
  svg.append(...layers.values());
  shown.colours.forEach((colour, k) => {
    const x = prototypes[2 * k], y = prototypes[2 * k + 1], arm = 3.2 * r;
    const star = draw("path", { d: `M${x - arm},${y} L${x},${y - arm} L${x + arm},${y} L${x},${y + arm} Z`, fill: colour, stroke: "var(--ink)", "stroke-width": r / 2 });
    star.append(draw("title", {}, `prototype of position ${k}`));
    svg.append(star);
  });
  const at = (event) => event.target.dataset?.i;
  svg.addEventListener("pointermove", (event) => {
    const i = at(event);
    if (i === undefined) { tip.hidden = true; return; }
    const graph = shown.graphs[shown.map.g[i]], node = shown.map.n[i];
    if (tip.dataset.i !== i || tip.hidden) {
      tip.replaceChildren(drawGraph(graph, firstView(), { focus: node }), make("div", {}, `graph ${graph.id}, node ${node}${graph.l[node] ? ` (${graph.l[node]})` : ""}${graph.k ? `, position ${graph.k[node]}` : ""}`));
      tip.dataset.i = i;
      tip.hidden = false;
    }
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  svg.addEventListener("click", (event) => { const i = at(event); if (i !== undefined) { tip.hidden = true; openGraph(shown.graphs[shown.map.g[i]], shown.graphs); } });
  const toggles = [...layers.keys()].filter(() => shown.colours.length).sort((a, b) => a - b).map((k) => make("button.button", { type: "button", "aria-pressed": "true", style: "margin:.15rem", onclick: (event) => {
    const hide = layers.get(k).style.display !== "none";
    layers.get(k).style.display = hide ? "none" : "";
    event.currentTarget.setAttribute("aria-pressed", String(!hide));
  } }, make("i.swatch", { style: `background:${shown.colours[k] ?? "var(--faint)"}` }), k < 0 ? "dropped" : `position ${k}`));
  aside.append(...toggles);
  section("map", "Map of nodes", `t-SNE of the vectors of ${shown.map.g.length.toLocaleString("en")} nodes by cosine distance${shown.colours.length ? "; diamonds are the prototypes" : ""}. Nodes that are close look alike to the model; distances between groups mean little.`, make("div.map", {}, svg, aside));
}
function settings() {
  const list = (entries) => make("dl", {}, ...Object.entries(entries).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  const blocks = [data.settings, data.versions].filter((entries) => Object.keys(entries).length).map(list);
  section("settings", "Settings and versions", null, make("div.settings", {}, ...blocks));
}
verdict();
curves();
if (shown) for (const text of shown.missing) document.getElementById("main").append(make("section", {}, make("p.lead", {}, text)));
atlas();
gallery();
map();
settings();
