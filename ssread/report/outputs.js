// What is predicted: a class, labels that are each yes or no, or numbers.
const isClasses = explained?.task === "classification", isNumbers = explained?.task === "regression";
const outputs = (explained?.output_names ?? []).map((name, number) => [number, name]);
const outputName = (number) => explained.output_names[number];
const number = (value) => (value === null ? "unknown" : String(+value.toPrecision(4)));

// The label or number that the page is about; classes are looked at together.
let target = 0;
const targetListeners = [];
function setTarget(chosen) {
  if (isClasses || chosen === target) return;
  target = chosen;
  targetListeners.forEach((listener) => listener());
}
const slot = () => (isClasses ? 0 : target);
const predictedValue = (graph) => graph.predicted[slot()];
const knownValue = (graph) => graph.known[slot()] ?? null;
const error = (graph) => (knownValue(graph) === null ? null : Math.abs(predictedValue(graph) - knownValue(graph)));
// In thousandths: of the predicted class, or of the label.
const probability = (graph) => graph.probabilities[isClasses ? predictedValue(graph) : target];
function outcome(graph) {
  if (knownValue(graph) === null) return "unknown";
  return knownValue(graph) === predictedValue(graph) ? "correct" : "wrong";
}
// A class, label value or number in words.
function valueText(value) {
  if (value === null) return "unknown";
  if (isNumbers) return number(value);
  return isClasses ? outputName(value) : value ? "yes" : "no";
}
// How well the graphs are predicted, in a sentence.
function successText() {
  const found = Object.entries(explained.success).map(([part, texts]) => [part, texts[slot()]]).filter(([, t]) => t);
  if (!found.length) return "";
  const subject = isClasses ? "Predictions" : `Predictions of ${outputName(target)}`;
  const trained = explained.trained_on ? " (these graphs were trained on)" : "";
  return `${subject}, ${found.map(([part, text]) => `${part}: ${text}${trained}`).join("; ")}. `;
}
