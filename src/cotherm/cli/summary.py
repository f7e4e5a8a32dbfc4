"""Summaries of files and results, for machines and for people."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cotherm.cli import inputs
from cotherm.cli.advice import in_options
from cotherm.cli.inputs import KINDS, NO_HEADERS, Headers
from cotherm.cli.outputs import table_text
from cotherm.errors import CothermError, visible
from cotherm.graphs.files import MESH_SUFFIXES, read_mesh
from cotherm.graphs.graph import Graph
from cotherm.graphs.sharded.staging import COUPLED
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.io import atomic
from cotherm.io.columns import Layout, Numbers, Request, laid_out, opened_columns
from cotherm.io.kinds import CELLS, COLUMNS, SINGLE_CELLS, TABLES, suffix_of
from cotherm.memory import words
from cotherm.methods.coupling.result import Coupling

Described = tuple[dict[str, Any], str]
# What is told of a coupling as it is.
_OF_COUPLINGS = (
    *("status", "times", "alpha", "cost", "distance", "coupling_before", "coupling", "mismatch"),
    *("settings", "versions", "seconds"),
)


def about_file(path: str, headers: Headers = NO_HEADERS) -> Described:
    place = atomic.as_path(path)
    if (place / COUPLED).is_file():
        return _about_coupled_shards(place)
    return about_shards(ShardedGraph.open(place)) if place.is_dir() else _about_plain_file(place, headers)


def _about_coupled_shards(place: Path) -> Described:
    """What a coupling of sharded graphs wrote beside them."""
    try:
        report = json.loads((place / COUPLED).read_bytes())
        text = _coupled_text(place, report)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CothermError(str(place / COUPLED), "no such text", "what a coupling of shards wrote") from None
    return {"kind": "coupled shards", **report}, text


def _coupled_text(place: Path, report: dict[str, Any]) -> str:
    graphs = [ShardedGraph.open(place / str(k)) for k in range(len(report["graphs"]))]
    before, after = (", ".join(f"{x:.4g}" for x in report[name]) for name in ("coupling_before", "coupling"))
    lines = [
        f"Coupling of {len(graphs)} sharded graphs: {visible(str(report['status']))}, cost {report['cost']:.6g}",
        *(f"  {visible(str(graph.path))}: {graph.n:,} vertices, {graph.m:,} edges" for graph in graphs),
        f"  α = {report['alpha']:.4g}",
        f"  coupling error at t = {', '.join(f'{t:.4g}' for t in report['times'])}: {before} before, {after} after",
    ]
    return "\n".join(lines)


def _about_plain_file(place: Path, headers: Headers) -> Described:
    suffix = place.suffix.lower()
    if suffix in (".npz", ".mtx", ".graphml") or inputs.is_edge_list(place):
        result = inputs.read_result(str(place), told=False)  # the summary already tells its status
        return about_coupling(result, settings=True) if isinstance(result, Coupling) else about_graph(result)
    if suffix in MESH_SUFFIXES:
        mesh = read_mesh(place)
        report = {"kind": "mesh", "vertices": len(mesh.vertices), "faces": len(mesh.faces)}
        return report, f"Mesh of {len(mesh.vertices):,} vertices and {len(mesh.faces):,} triangles"
    if suffix_of(place) in (*CELLS, COLUMNS):
        with in_options(), opened_columns(place, Request(header=inputs.header_of(place, headers))) as columns:
            return _about_table(laid_out(columns))
    if suffix in SINGLE_CELLS:
        return _about_cells(inputs.tables_in(place, points=False))
    if suffix_of(place) in TABLES:
        points = inputs.read_points(place).values
        report = {"kind": "table", "rows": len(points), "columns": points.shape[1]}
        return report, f"Table of {len(points):,} rows and {points.shape[1]:,} columns"
    raise CothermError(str(place), f"the suffix {suffix or 'none'}", KINDS)


def about_graph(graph: Graph) -> Described:
    degrees = graph.degrees
    report = {
        "kind": "graph",
        "name": graph.name,
        "vertices": graph.n,
        "edges": graph.m,
        "components": graph.component_count,
        "isolated": int(np.sum(degrees == 0.0)),
        "weight_least": float(graph.w.min()) if graph.m else None,
        "weight_greatest": float(graph.w.max()) if graph.m else None,
        "degree_median": float(np.median(degrees)),
        "coordinates": None if graph.coordinates is None else graph.coordinates.shape[1],
        "labels": None if graph.labels is None else len(np.unique(graph.labels)),
    }
    lines = [f"Graph {visible(graph.name or '')}".rstrip() + f": {graph.n:,} vertices, {graph.m:,} edges"]
    if graph.m:
        lines.append(f"  weights {graph.w.min():.3g} to {graph.w.max():.3g}, median degree {np.median(degrees):.3g}")
    isolated = f", {report['isolated']} vertices without neighbors" if report["isolated"] else ""
    lines.append(f"  {graph.component_count:,} connected part{'s' * (graph.component_count != 1)}{isolated}")
    if report["labels"] is not None:
        lines.append(f"  {report['labels']} different labels")
    return report, "\n".join(lines)


def about_shards(graph: ShardedGraph) -> Described:
    """A summary from the headers of shards, without reading the edges."""
    header = graph.header
    edges, cut = header.edges.tolist(), int(header.mirrors.sum())
    size = sum(size for size, _ in header.files.values())
    report = {
        "kind": "sharded graph",
        "name": graph.name,
        "vertices": graph.n,
        "edges": graph.m,
        "shards": graph.shards,
        "edges_between_shards": cut,
        "largest_shard": max(edges),
        "order": header.order,
        "extras": list(header.extras),
        "bytes": size,
    }
    lines = [f"Sharded graph {visible(graph.name or '')}".rstrip() + f": {graph.n:,} vertices, {graph.m:,} edges"]
    share = f", {cut / graph.m:.1%} of the edges between shards" if graph.m else ""
    lines.append(f"  {graph.shards:,} shard{'s' * (graph.shards != 1)} of at most {max(edges):,} edges{share}")
    lines.append(f"  {words(size)} on disk, vertices in the order {header.order}")
    if header.extras:
        lines.append(f"  with {', '.join(header.extras)}")
    return report, "\n".join(lines)


def about_coupling(result: Coupling, *, settings: bool = False) -> Described:
    report: dict[str, Any] = {"kind": "coupling", **{name: getattr(result, name) for name in _OF_COUPLINGS}}
    report["functions"] = result.functions[0].shape[1]
    report["views"] = [
        {"name": inputs.name_of(g, k), "vertices": g.n, "edges": g.m, "changes": change.counts()}
        for k, (g, change) in enumerate(zip(result.graphs, result.changes(), strict=True))
    ]
    if result.pairs is not None:
        report["pairs"] = {"items": len(result.pairs.table), "agreement": list(map(asdict, result.pairs.agreement))}
        report["pairs"] |= {name: getattr(result.pairs, name) for name in ("n_modes", "shares", "notes")}
    text = str(result)
    if settings:
        rows = [[key, _shown(value)] for key, value in {**result.settings, **result.versions}.items()]
        text += "\n\nSettings and versions, for a methods section:\n" + table_text(["", ""], rows).lstrip("\n")
    return report, text


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _about_cells(found: list[Numbers]) -> Described:
    modalities = [{"name": one.modality, "rows": len(one.values), "columns": one.values.shape[1]} for one in found]
    lines = [(f"Modality {one.modality}: " if one.modality else "Cells: ") + one.reading for one in found]
    return {"kind": "cells", "modalities": modalities}, "\n".join(map(visible, lines))


def _about_table(table: Layout) -> Described:
    report = {
        "kind": "table",
        "rows": table.rows,
        "columns": table.columns,
        "titles": table.titles,
        "names": table.names is not None,
    }
    return report, f"Table: {table.reading}"
