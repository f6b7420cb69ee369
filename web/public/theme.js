// Runs before the first paint, so that a chosen theme never flashes. See src/theme/theme.ts.
(function () {
  try {
    var theme = localStorage.getItem("godel.theme");
    if (theme === "light" || theme === "dark") document.documentElement.classList.add(theme);
  } catch (error) {
    // Without storage the system decides.
  }
})();
