import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { start } from "./session/sign-in";
import "./styles.css";
import { applyTheme } from "./theme";

applyTheme();
void start();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
