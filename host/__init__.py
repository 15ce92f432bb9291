"""The host CLI `assay`: reads flows, drives plugins over the wire, keeps evidence, reports. It never imports `plugin`."""
