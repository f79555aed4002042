package growth

import (
	_ "embed"
	"encoding/base64"
)

//go:embed pem/ca.crt
var certificateText string

//go:embed pem/request.csr
var requestText string

// Values for fields that contain certificates. The keys were deleted.
var (
	certificate = base64.StdEncoding.EncodeToString([]byte(certificateText)) //nolint:gochecknoglobals // a constant
	request     = base64.StdEncoding.EncodeToString([]byte(requestText))     //nolint:gochecknoglobals // a constant
)
