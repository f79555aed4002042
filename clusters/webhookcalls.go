package clusters

import (
	"fmt"
	"time"
)

// WebhookCalls changes how the API server's calls of a system's webhooks are answered, while its program keeps running.
// At most one field is set; with none, the program answers as usual.
type WebhookCalls struct {
	// Away refuses each connection, as if nothing listened.
	Away bool `json:"away,omitempty"`
	// Delay is the delay of each call before the program gets it: 3s. The API server gives up after the webhook's
	// timeoutSeconds. With a service, the program gets the call at once, and its answer is late.
	Delay string `json:"delay,omitempty"`
	// Certificate of the server: expired is one that expired an hour ago. Default: a valid one.
	Certificate string `json:"certificate,omitempty"`
}

// CertificateExpired is the only value of WebhookCalls.Certificate.
const CertificateExpired = "expired"

// Usual reports whether the program answers the calls as usual.
func (c *WebhookCalls) Usual() bool { return c == nil || *c == WebhookCalls{} }

// String returns "webhooks away", "webhooks delayed by 3s" or "webhooks with an expired certificate"; "" if usual.
func (c *WebhookCalls) String() string {
	switch {
	case c.Usual():
		return ""
	case c.Away:
		return "webhooks away"
	case c.Delay != "":
		return "webhooks delayed by " + c.Delay
	default:
		return "webhooks with an " + c.Certificate + " certificate"
	}
}

// Wait returns the delay as a duration.
func (c *WebhookCalls) Wait() (time.Duration, error) {
	if c.Usual() || c.Delay == "" {
		return 0, nil
	}
	return positiveDuration(c.Delay)
}

func positiveDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	if err != nil || duration <= 0 {
		return 0, fmt.Errorf("%q is not a positive duration; write it like 500ms, 5s or 2m", text)
	}
	return duration, nil
}

// usualOr returns nil for usual calls, so that equal systems are equal.
func (c *WebhookCalls) usualOr() *WebhookCalls {
	if c.Usual() {
		return nil
	}
	return c
}
