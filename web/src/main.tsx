import "./ui/tokens.css";
import "./ui/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { offerDeviceCode, takeDeviceCode } from "./features/device/deviceLink";
import { takeLoginToken } from "./features/session/loginLink";
import { offerLoginToken } from "./features/session/queries";
import { newQueryClient } from "./queryClient";

// First of all: what the address carries must be off its bar before anything can look at it.
const token = takeLoginToken(window);
if (token) offerLoginToken(token);
const code = takeDeviceCode(window);
if (code) offerDeviceCode(code);

const root = document.getElementById("root");
if (!root) throw new Error("the page has no #root element");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={newQueryClient()}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
