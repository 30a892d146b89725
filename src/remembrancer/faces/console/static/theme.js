// Sets dark or light before anything is drawn: the visitor's choice, else the system's.
(() => {
  const stored = () => {
    try {
      return localStorage.getItem("remembrancer.theme");
    } catch {
      return null; // storage is turned off
    }
  };
  const choice = stored();
  if (choice === "dark" || choice === "light") document.documentElement.dataset.theme = choice;
})();
