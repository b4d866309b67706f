// The picture of the graph: neighbours come by expansion, types can be hidden, a node leads to its passage.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const by = (id) => document.getElementById(id);
  const canvas = by("hub-graph");
  const typeBoxes = [...document.querySelectorAll("[data-graph-type]")];
  const relationBoxes = [...document.querySelectorAll("[data-graph-relation]")];
  const typeOf = Object.fromEntries(typeBoxes.map((box) => [box.dataset.graphType, box.dataset]));
  const relationOf = Object.fromEntries(relationBoxes.map((box) => [box.dataset.graphRelation, box.dataset.name]));
  const isDark = document.documentElement.classList.contains("dark");
  const ink = isDark ? "#e5e7eb" : "#1f2937";
  const line = isDark ? "#6b7280" : "#9ca3af";
  let selected = null;

  const picture = cytoscape({
    container: canvas,
    minZoom: 0.1,
    maxZoom: 3,
    style: [
      {
        selector: "node",
        style: {
          "background-color": "data(color)", label: "data(label)", color: ink, "font-size": 11,
          "text-wrap": "wrap", "text-max-width": 110, "text-valign": "bottom", "text-margin-y": 4,
          width: 22, height: 22,
        },
      },
      { selector: "node.start", style: { width: 32, height: 32, "font-weight": "bold" } },
      { selector: "node:selected", style: { "border-width": 4, "border-color": ink } },
      {
        selector: "edge",
        style: {
          "curve-style": "bezier", "target-arrow-shape": "triangle", "line-color": line, "target-arrow-color": line,
          width: 1.2, "arrow-scale": 0.9, label: "data(label)", "font-size": 9, color: line, "text-rotation": "autorotate",
        },
      },
      { selector: ".hidden", style: { display: "none" } },
    ],
  });

  function shortened(name) {
    return name.length > 40 ? `${name.slice(0, 39)}…` : name;
  }

  function add(found, around) {
    const origin = around ? picture.getElementById(around) : null;
    const centre = origin && origin.nonempty() ? origin.position() : { x: 0, y: 0 };
    const fresh = found.nodes.filter((node) => picture.getElementById(node.id).empty());
    const nodes = fresh.map((node, index) => {
      const angle = (2 * Math.PI * index) / Math.max(fresh.length, 1);
      return {
        group: "nodes",
        data: { ...node, label: shortened(node.name), color: (typeOf[node.type] || { color: "#64748b" }).color },
        position: { x: centre.x + 160 * Math.cos(angle), y: centre.y + 160 * Math.sin(angle) },
      };
    });
    const edges = found.edges
      .map((edge) => ({ ...edge, id: `${edge.source}>${edge.type}>${edge.target}` }))
      .filter((edge) => picture.getElementById(edge.id).empty())
      .map((edge) => ({ group: "edges", data: { ...edge, label: relationOf[edge.type] || edge.type } }));
    picture.add([...nodes, ...edges]);
    filter();
    return fresh.length;
  }

  function arrange() {
    const large = picture.nodes(":visible").length > 300;
    picture.elements(":visible").layout({ name: large ? "concentric" : "cose", animate: false, nodeRepulsion: () => 90000, idealEdgeLength: () => 110, padding: 30 }).run();
    if (picture.zoom() > 1.3) {
      picture.zoom(1.3);
      picture.center();
    }
  }

  function filter() {
    const types = new Set(typeBoxes.filter((box) => box.checked).map((box) => box.dataset.graphType));
    const relations = new Set(relationBoxes.filter((box) => box.checked).map((box) => box.dataset.graphRelation));
    picture.nodes().forEach((node) => { node.toggleClass("hidden", !types.has(node.data("type"))); });
    picture.edges().forEach((edge) => { edge.toggleClass("hidden", !relations.has(edge.data("type"))); });
    canvas.dataset.nodes = String(picture.nodes(":visible").length);
    canvas.dataset.edges = String(picture.edges(":visible").length);
  }

  async function show(entity, around) {
    const response = await fetch(`${canvas.dataset.url}?${new URLSearchParams({ entity, depth: "1" })}`);
    const found = await response.json();
    by("hub-graph-error").hidden = response.ok;
    if (!response.ok) {
      by("hub-graph-error").textContent = found.error;
      return;
    }
    const fresh = add(found, around);
    by("hub-graph-cut").hidden = found.is_complete;
    if (!around) found.starts.forEach((id) => picture.getElementById(id).addClass("start"));
    if (fresh) arrange();
    if (!around && found.starts.length) select(picture.getElementById(found.starts[0]));
    canvas.dataset.ready = entity;
  }

  function select(node) {
    selected = node;
    picture.elements().unselect();
    node.select();
    by("hub-graph-hint").hidden = true;
    by("hub-graph-node").hidden = false;
    by("hub-graph-name").textContent = node.data("name");
    const type = typeOf[node.data("type")];
    by("hub-graph-type").textContent = [type ? type.name : node.data("type"), node.data("code")].filter(Boolean).join(" · ");
    by("hub-graph-passage").hidden = !node.data("link");
    by("hub-graph-passage").href = node.data("link") || "#";
    by("hub-graph-facts").replaceChildren(...Object.entries(node.data("facts")).flatMap(([key, value]) => {
      const term = document.createElement("dt");
      const fact = document.createElement("dd");
      term.textContent = key;
      fact.textContent = String(value);
      return [term, fact];
    }));
  }

  picture.on("tap", "node", (event) => select(event.target));
  picture.on("dbltap", "node", (event) => show(event.target.id(), event.target.id()));
  by("hub-graph-expand").addEventListener("click", () => { if (selected) show(selected.id(), selected.id()); });
  by("hub-graph-hide").addEventListener("click", () => {
    if (!selected) return;
    selected.remove();
    selected = null;
    by("hub-graph-node").hidden = true;
    filter();
  });
  by("hub-graph-layout").addEventListener("click", arrange);
  by("hub-graph-clear").addEventListener("click", () => {
    picture.elements().remove();
    by("hub-graph-node").hidden = true;
    filter();
  });
  [...typeBoxes, ...relationBoxes].forEach((box) => box.addEventListener("change", filter));
  by("hub-graph-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const entity = by("hub-graph-entity").value.trim();
    if (entity) show(entity, null);
  });
  if (by("hub-graph-entity").value) show(by("hub-graph-entity").value, null);
});
