/** The look of the report page, light and dark. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2430; --quiet: #5b6675; --line: #d9dee5; --paper: #fff; --card: #f6f8fa; --accent: #2563a8; --pass: #2f8f6b; --fail: #c8553d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --quiet: #9aa5b4; --line: #343c47; --paper: #14181e; --card: #1b2129; --accent: #6ea8e5; --pass: #4fb58d; --fail: #e07a63; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 32px 24px 64px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 40px 0 12px; } h3 { font-size: 15px; margin: 0; }
.quiet { color: var(--quiet); } .small { font-size: 13px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0; padding: 0; }
.facts div { background: var(--card); border-radius: 8px; padding: 10px 14px; } .facts dt { color: var(--quiet); font-size: 13px; } .facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--quiet); font-weight: 500; font-size: 13px; }
th, td { padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); vertical-align: middle; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; } svg.scale { width: 240px; height: 24px; } svg text { font-size: 11px; fill: var(--quiet); }
.axis { stroke: var(--line); stroke-width: 1; } .mark { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 3 2; } .interval { stroke: var(--accent); stroke-width: 5; stroke-linecap: round; opacity: .45; } .point { fill: var(--accent); }
.better .interval { stroke: var(--pass); } .better .point { fill: var(--pass); } .worse .interval { stroke: var(--fail); } .worse .point { fill: var(--fail); }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 16px; } .grid > div { background: var(--card); border-radius: 8px; padding: 14px; } svg.histogram { width: 100%; margin-top: 8px; } rect.pass { fill: var(--pass); } rect.fail { fill: var(--fail); }
details { border-bottom: 1px solid var(--line); } summary { cursor: pointer; padding: 10px 0; display: flex; gap: 12px; align-items: baseline; } summary .text { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
summary::before { content: '▸'; color: var(--quiet); } details[open] summary::before { content: '▾'; }
.badge { border-radius: 999px; padding: 1px 9px; font-size: 12px; background: var(--card); border: 1px solid var(--line); white-space: nowrap; } .badge.fail { color: var(--fail); border-color: var(--fail); } .badge.pass { color: var(--pass); border-color: var(--pass); }
pre { background: var(--card); border-radius: 8px; padding: 10px 12px; margin: 4px 0 12px; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, monospace; max-height: 320px; overflow-y: auto; }
.error { border-left: 3px solid var(--fail); padding: 8px 12px; background: var(--card); border-radius: 0 8px 8px 0; }
`
