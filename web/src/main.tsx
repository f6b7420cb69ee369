import "./ui/tokens.css";
import "./ui/base.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { takeLoginToken } from "./features/session/loginLink";
import { offerLoginToken } from "./features/session/queries";

// First of all: the token must be off the address bar before anything can look at it.
const token = takeLoginToken(window);
if (token) offerLoginToken(token);

const queryClient = new QueryClient({
  // A server on this machine is reachable without any network.
  defaultOptions: { queries: { networkMode: "always" }, mutations: { networkMode: "always" } },
});

const root = document.getElementById("root");
if (!root) throw new Error("the page has no #root element");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
