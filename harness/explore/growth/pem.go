package growth

import (
	_ "embed"
	"encoding/base64"
)

//go:embed pem/ca.crt
var certificateText string

//go:embed pem/request.csr
var requestText string

// What fields for certificates take: their keys were thrown away.
var (
	certificate = base64.StdEncoding.EncodeToString([]byte(certificateText)) //nolint:gochecknoglobals // a constant
	request     = base64.StdEncoding.EncodeToString([]byte(requestText))     //nolint:gochecknoglobals // a constant
)
