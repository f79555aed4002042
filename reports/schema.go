package reports

import _ "embed"

//go:generate go run ./internal/generate

//go:embed run.schema.json
var schemaJSON []byte

// Schema returns the JSON schema (2020-12) of run.json.
func Schema() []byte { return append([]byte(nil), schemaJSON...) }
