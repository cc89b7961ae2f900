/**
 * Settings of the generator of the site. The sidebar comes from the list of pages, docs/README.md.
 */
/** The anchors that links between pages use, which are GitHub's. */
function slugify(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
}

const base = process.env.SITE_BASE ?? "/";

export default {
  title: "svc",
  description: "A private, portable memory for AI agents that its user owns",
  lang: "en",
  base,
  head: [["link", { rel: "icon", href: `${base}icon.svg` }]],
  // Texts show braces and angle brackets of routes and commands; none of them is a template.
  markdown: { anchor: { slugify }, toc: { slugify }, attrs: { disable: true }, linkify: false },
  vite: { build: { chunkSizeWarningLimit: 4096 }, logLevel: "warn" },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "First day", link: "/first-day" },
      { text: "Configuration", link: "/configuration" },
      { text: "Protocol", link: "/protocol" },
      { text: "svc and others", link: "/compared" },
    ],
    sidebar: JSON.parse(process.env.SITE_SIDEBAR),
  },
};
