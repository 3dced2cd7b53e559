// What is copied from a block of code is the code: no prompts, and no output.
document.addEventListener("click", (event) => {
  const button = event.target.closest(".md-clipboard, .md-code__button[data-md-type='copy']");
  const code = button && button.closest("pre, .highlight")?.querySelector("code");
  if (!code || !code.querySelector(".gp")) return;
  const copy = code.cloneNode(true);
  copy.querySelectorAll(".gp, .go, .gt, .gr").forEach((part) => part.remove());
  const lines = copy.textContent.split("\n").filter((line) => line.trim());
  // Before the theme copies everything.
  event.stopImmediatePropagation();
  navigator.clipboard.writeText(lines.join("\n") + "\n");
}, true);
