function addNotes() {
  const notes = explained ? explained.notes : [];
  if (!notes.length) return;
  document.getElementById("main").append(html("section.notes", {}, ...notes.map((text) => html("p.lead", {}, text))));
}
function addSettings() {
  const lists = [data.settings, data.versions].map(Object.entries).filter((entries) => entries.length);
  addSection("settings", "Settings and versions", null, html("div.settings", {}, ...lists.map(definitionList)));
}
addVerdict();
addCurves();
addNotes();
addPositions();
addGallery();
addMap();
addSettings();
openLinked();
