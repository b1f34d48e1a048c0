"use strict";

/* Return the text of a code block to copy: of a console block, the commands alone. */
function textToCopy(pre) {
  const text = pre.textContent.replace(/\n+$/, "");
  if (!pre.closest(".highlight-console")) return text;
  const commands = [];
  let continues = false;
  for (const line of text.split("\n")) {
    if (continues || line.startsWith("$ ")) {
      commands.push(continues ? line : line.slice(2));
      continues = line.endsWith("\\");
    }
  }
  return commands.join("\n");
}

/* Give each code block a button that copies it. */
function addCopyButtons() {
  for (const pre of document.querySelectorAll(".highlight pre")) {
    const button = Object.assign(document.createElement("button"), {
      type: "button", className: "copy", textContent: "Copy",
    });
    button.setAttribute("aria-label", "Copy the code");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(textToCopy(pre));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    pre.before(button);
  }
}

/* Show the blocks of an element `.tabs`, each after a paragraph with its label, one at a time. */
function addTabs(box, number) {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  const tabs = [];
  for (const paragraph of [...box.querySelectorAll(":scope > p")]) {
    const panel = document.createElement("div");
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = paragraph.textContent;
    tab.id = `tab-${number}-${tabs.length}`;
    panel.id = `panel-${number}-${tabs.length}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    while (paragraph.nextElementSibling && paragraph.nextElementSibling.tagName !== "P")
      panel.append(paragraph.nextElementSibling);
    paragraph.replaceWith(panel);
    tabs.push({tab, panel});
    list.append(tab);
  }
  const select = (chosen, focus) => tabs.forEach(({tab, panel}, index) => {
    const isChosen = index === (chosen + tabs.length) % tabs.length;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    panel.hidden = !isChosen;
    if (isChosen && focus) tab.focus();
  });
  tabs.forEach(({tab}, index) => {
    tab.addEventListener("click", () => select(index, false));
    tab.addEventListener("keydown", (event) => {
      const to = {ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      select(to, true);
    });
  });
  box.prepend(list);
  select(0, false);
}

document.querySelectorAll(".tabs").forEach(addTabs);
addCopyButtons();
