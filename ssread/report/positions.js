function addPositions() {
  if (!explained || !explained.atlas.length) return;
  const lead = "The model aligns every node with the closest of K prototypes, which it learnt without being told what "
    + "they mean. Bars show how many nodes of a position have a property, ticks how many of all other nodes have it. "
    + (explained.stored_meanings
      ? "Properties and contributions were measured on the training set; shares and typical nodes are of these graphs."
      : "All of this was measured on these graphs.");
  addSection("positions", "What the positions mean", lead, html("div.cards", {}, ...explained.atlas.map(positionCard)));
}
function positionCard(card) {
  const k = card.position, colour = explained.colours[k];
  const article = html("article.card", {}, html("header", {}, html("i.swatch", { style: `background:${colour}` }),
    html("h3", {}, `Position ${k}`), html("span.share", {}, `${percent(card.share)} of nodes`)));
  if (card.exemplars.length) {
    article.append(html("p.gist", {}, `in ${percent(card.graph_share)} of graphs`));
    const typical = card.exemplars.map((exemplar) => exemplarButton(exemplar, k));
    article.append(html("h4", {}, "Typical nodes"), html("div.exemplars", {}, ...typical));
  } else {
    article.append(html("p.note", {}, "No node of these graphs is aligned with this position."));
    if (!explained.stored_meanings) return article;
  }
  article.append(html("h4", {}, "Over-represented"), card.traits.length
    ? html("div.bars", {}, ...card.traits.flatMap((trait) => traitBar(trait, colour)))
    : html("p.note", {}, "No property is over-represented."));
  const scores = card.activations.flatMap((score, output) => [html("span", {}, outputName(output)),
    signedBar(score / largestMean(output)), html("span.value", {}, score.toPrecision(2))]);
  article.append(html("h4", {}, isNumbers ? "A node adds" : "Adds to the score of"), html("div.bars", {}, ...scores));
  return article;
}
function exemplarButton({ graph, node, num_alike, neighbourhood }, k) {
  const record = explained.graphs[graph];
  const label = `typical node of position ${k}, in graph ${record.id}`;
  const title = `graph ${record.id}: ${num_alike} ${num_alike === 1 ? "node has" : "nodes have"} this vector`;
  return html("button", { type: "button", title, onclick: () => openGraph(record, [record]) },
    drawGraph(record, "positions", { focus: node, neighbourhood, label }));
}
function traitBar({ fact, inside, outside, effect, p }, colour) {
  const shares = `${percent(inside)} here, ${percent(outside)} elsewhere`;
  const title = `${shares}; Cohen's h ${effect.toFixed(2)}, p ${formatP(p)}`;
  const bar = html("div.bar", { title }, html("b", { style: `left:0;width:${100 * inside}%;background:${colour}` }),
    html("s", { style: `left:calc(${100 * outside}% - 1px)` }));
  return [html("span", {}, fact), bar, html("span.value", {}, percent(inside))];
}
// The largest mean activation of all positions: numbers have units of their own, scores compare.
function largestMean(output) {
  const of = (card) => (isNumbers ? [card.activations[output]] : card.activations);
  return Math.max(...explained.atlas.flatMap((card) => of(card).map(Math.abs)), 1e-9);
}
// A bar from the middle to the right for values up to 1, to the left for values down to -1.
function signedBar(value) {
  const width = 50 * Math.min(Math.abs(value), 1), left = value < 0 ? 50 - width : 50;
  const style = `left:${left}%;width:${width}%;background:var(${value < 0 ? "--against" : "--for"})`;
  return html("div.bar", {}, html("b", { style }), html("s", { style: "left:calc(50% - 1px);opacity:.35" }));
}
