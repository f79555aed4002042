package writes

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"

	"github.com/rehearse-dev/rehearse/scenarios"
)

type userKey struct{}

// withUser returns a context whose writes are sent as the user, for clients that Configure has prepared. Without a
// user they are sent as the client's own.
func withUser(ctx context.Context, user *scenarios.User) context.Context {
	if user == nil {
		return ctx
	}
	return context.WithValue(ctx, userKey{}, user)
}

// impersonate sends writes as the user of their context.
type impersonate struct{ next http.RoundTripper }

func (i impersonate) RoundTrip(request *http.Request) (*http.Response, error) {
	user, ok := request.Context().Value(userKey{}).(*scenarios.User)
	if !ok || request.Method == http.MethodGet {
		return i.next.RoundTrip(request)
	}
	if user.User == "" || slices.Contains(user.Groups, "") { // the API server would serve it as the client's own
		return nil, &unsentError{fmt.Errorf("send it as user %q with groups %q: a name is empty", user.User, user.Groups)}
	}
	request = request.Clone(request.Context())
	request.Header.Set(transport.ImpersonateUserHeader, user.User)
	for _, group := range user.Groups {
		request.Header.Add(transport.ImpersonateGroupHeader, group)
	}
	return i.next.RoundTrip(request)
}

// mayNotImpersonate is the API server's answer to a client that may not act as others (k8s.io/apiserver,
// endpoints/filters/impersonation).
var mayNotImpersonate = regexp.MustCompile(`^\S+ (?:"[^"]*" )?is forbidden: User "[^"]*" cannot impersonate`)

// ownRejection reports that the impersonation of another user was rejected, and not the write.
func ownRejection(status metav1.Status, user *scenarios.User) bool {
	return user != nil && mayNotImpersonate.MatchString(status.Message)
}
