package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON is the run itself, indented. It can be read back into a Run.
func JSON(run *Run) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(run); err != nil {
		return nil, fmt.Errorf("writing the run as JSON: %w", err)
	}
	return b.Bytes(), nil
}
