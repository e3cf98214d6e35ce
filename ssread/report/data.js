const data = JSON.parse(document.getElementById("data").textContent);
const explained = data.explained;
