"use strict";
(() => {
  // score says how well an entry fits the words of a query: 0 if a word is missing. Titles count more than texts, and the
  // beginning of a word more than its inside.
  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      const at = entry.title.indexOf(word);
      if (at >= 0) {
        sum += at === 0 || !/[a-z0-9]/.test(entry.title[at - 1]) ? 8 : 4;
      } else if (entry.text.includes(word)) {
        sum += 1;
      } else {
        return 0;
      }
    }
    return sum;
  }

  // find returns the entries that hold every word of a query, the best first. Of equals, what is built comes first.
  function find(entries, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    return entries
      .map((entry, i) => ({ entry, i, score: score(entry, words) }))
      .filter((hit) => hit.score > 0)
      .sort((a, b) => b.score - a.score || a.entry.planned - b.entry.planned || a.i - b.i)
      .map((hit) => hit.entry);
  }

  if (typeof document === "undefined") {
    globalThis.find = find;
    return;
  }

  const box = document.querySelector("#search");
  const input = box.querySelector("input");
  const list = box.querySelector("ol");
  const count = box.querySelector("output");
  const contents = document.querySelector("#contents");
  let entries;

  // read collects what can be found: every section that has a place of its own.
  function read() {
    return Array.from(document.querySelectorAll("article[id]"), (section) => ({
      id: section.id,
      label: section.querySelector("h3 a").textContent,
      planned: section.classList.contains("planned"),
      title: section.querySelector("header").textContent.toLowerCase(),
      text: section.textContent.toLowerCase(),
    }));
  }

  function show() {
    entries ??= read();
    const query = input.value.trim();
    const hits = find(entries, query);
    list.replaceChildren(
      ...hits.slice(0, 50).map((hit) => {
        const link = document.createElement("a");
        link.href = "#" + hit.id;
        link.textContent = hit.label;
        const item = document.createElement("li");
        item.classList.toggle("planned", hit.planned);
        item.append(link);
        return item;
      }),
    );
    count.textContent = query === "" ? "" : hits.length === 1 ? "1 result" : hits.length + " results";
    contents.hidden = query !== "";
  }

  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && list.querySelector("a")) {
      event.preventDefault();
      list.querySelector("a").click();
    } else if (event.key === "Escape") {
      input.value = "";
      show();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== input && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  box.hidden = false;
})();
