// The theme: the system's unless somebody chose another one.
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("theme");
const apply = () => {
  document.documentElement.dataset.theme = chosen() || (dark.matches ? "dark" : "light");
  dispatchEvent(new HashChangeEvent("hashchange")); // canvases are drawn again
};
dark.addEventListener("change", apply);
apply();

/** toggle changes between light and dark. */
export function toggle() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  if ((next === "dark") === dark.matches) localStorage.removeItem("theme");
  else localStorage.setItem("theme", next);
  apply();
}
