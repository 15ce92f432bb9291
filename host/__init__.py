"""The host CLI `assay`: reads flows, drives plugins over the wire, keeps evidence. It never imports `plugin`."""
