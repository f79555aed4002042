package scenarios

import _ "embed"

//go:generate go run ./internal/generate

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON schema (2020-12) of a scenario, for editors and other tools.
func Schema() []byte { return append([]byte(nil), schemaJSON...) }
