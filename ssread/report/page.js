function addNotes() {
  const notes = explained ? explained.notes : [];
  document.getElementById("main").append(...notes.map((text) => html("section", {}, html("p.lead", {}, text))));
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
