package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// frontProxy is how the cluster's API server names the user of a request.
type frontProxy map[string]string

// readFrontProxy reads it from the ConfigMap that the API server publishes for aggregated servers.
func readFrontProxy(ctx context.Context, client kubernetes.Interface) (frontProxy, error) {
	const namespace, name = "kube-system", "extension-apiserver-authentication"
	published, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read how the API server authenticates itself to aggregated API servers: %w", err)
	}
	if published.Data["requestheader-client-ca-file"] == "" {
		return nil, fmt.Errorf("ConfigMap %s/%s has no requestheader-client-ca-file: start the API server with "+
			"--requestheader-client-ca-file", namespace, name)
	}
	return published.Data, nil
}

// authenticate trusts the front proxy, and treats all other clients as anonymous.
func (p frontProxy) authenticate(config *genericapiserver.Config) error {
	authority, err := dynamiccertificates.NewStaticCAContent("front-proxy", []byte(p["requestheader-client-ca-file"]))
	if err != nil {
		return fmt.Errorf("read the front proxy's authority: %w", err)
	}
	headers := &authenticatorfactory.RequestHeaderConfig{CAContentProvider: authority}
	for key, field := range map[string]*headerrequest.StringSliceProvider{
		"requestheader-username-headers":     &headers.UsernameHeaders,
		"requestheader-uid-headers":          &headers.UIDHeaders,
		"requestheader-group-headers":        &headers.GroupHeaders,
		"requestheader-extra-headers-prefix": &headers.ExtraHeaderPrefixes,
		"requestheader-allowed-names":        &headers.AllowedClientNames,
	} {
		var values []string
		if text := p[key]; text != "" {
			if err := json.Unmarshal([]byte(text), &values); err != nil {
				return fmt.Errorf("read the front proxy's %s %q: %w", key, text, err)
			}
		}
		*field = headerrequest.StaticStringSlice(values)
	}
	config.Authentication.RequestHeaderConfig = headers
	if err := config.Authentication.ApplyClientCert(authority, config.SecureServing); err != nil {
		return fmt.Errorf("ask clients for the front proxy's certificate: %w", err)
	}
	authenticator, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous: &apiserver.AnonymousAuthConfig{Enabled: true}, RequestHeaderConfig: headers,
	}.New()
	config.Authentication.Authenticator = authenticator
	return err
}

// authorize allows administrators everything and readiness checks for everyone, and asks the cluster about all other
// requests.
func authorize(config *genericapiserver.Config, client kubernetes.Interface) error {
	paths, err := path.NewAuthorizer(alwaysAllowed())
	if err != nil {
		return fmt.Errorf("authorize: %w", err)
	}
	cluster, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             10 * time.Second,
		DenyCacheTTL:              time.Second,
		WebhookRetryBackoff:       &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5},
	}.New()
	if err != nil {
		return fmt.Errorf("set up authorization by the cluster: %w", err)
	}
	config.Authorization.Authorizer, err = union.New(
		union.NamedAuthorizer{
			AuthorizerName: "Administrators",
			Authorizer:     authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
		},
		union.NamedAuthorizer{AuthorizerName: "AlwaysAllowedPaths", Authorizer: paths},
		union.NamedAuthorizer{AuthorizerName: "Cluster", Authorizer: cluster},
	)
	return err
}
