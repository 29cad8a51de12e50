"use strict";

const page = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => {
  const theme = page.dataset.theme;
  page.classList.toggle("dark-mode", theme === "dark" || (theme === "auto" && dark.matches));
};
dark.addEventListener("change", paint);
paint();

SwaggerUIBundle({
  url: "{{ schema_url|escapejs }}",
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  docExpansion: "none",
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") {
      request.headers["X-CSRFToken"] = "{{ csrf_token }}";
    }
    return request;
  },
});
