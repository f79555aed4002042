package simulator

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// shutdownTimeout is how long requests may still take when the server shuts down. It is short, because watches do not
// end by themselves.
const shutdownTimeout = 200 * time.Millisecond

// requestTimeout is the maximum duration of a request. It does not apply to watches.
const requestTimeout = 30 * time.Second

// serialization encodes and decodes the served kinds.
type serialization struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

func newSerialization() (serialization, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return serialization{}, fmt.Errorf("register the kinds of %s: %w", v1alpha1.GroupVersion, err)
	}
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, unversioned)
	scheme.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{},
		&metav1.APIGroup{}, &metav1.APIResourceList{})
	return serialization{scheme: scheme, codecs: serializer.NewCodecFactory(scheme)}, nil
}

// newServer creates the aggregated API server. It serves no resources yet.
func newServer(o Options, s serialization, client kubernetes.Interface, proxy frontProxy,
	ready func(*http.Request) error,
) (*genericapiserver.GenericAPIServer, error) {
	config := genericapiserver.NewConfig(s.codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.RequestTimeout = requestTimeout
	config.EnableProfiling = false
	// This field is required, but it is never used to connect.
	config.LoopbackClientConfig = &restclient.Config{Host: net.JoinHostPort(o.Host, strconv.Itoa(o.Port))}
	if err := serving(o).ApplyTo(&config.SecureServing); err != nil {
		return nil, fmt.Errorf("serve at %s:%d: %w", o.Host, o.Port, err)
	}
	if err := proxy.authenticate(config); err != nil {
		return nil, err
	}
	if err := authorize(config, client); err != nil {
		return nil, err
	}
	config.AddReadyzChecks(healthz.NamedCheck("registered", ready))
	names := apiopenapi.NewDefinitionNamer(s.scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, names)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, names)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "Porch, simulated", "Porch, simulated"
	server, err := config.Complete(nil).New(Name, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("make the API server: %w", err)
	}
	server.ShutdownTimeout = shutdownTimeout
	return server, nil
}

func serving(o Options) *options.SecureServingOptions {
	secure := options.NewSecureServingOptions()
	secure.BindAddress, secure.BindPort = net.ParseIP(o.Host), o.Port
	secure.ServerCert = options.GeneratableKeyCert{CertKey: options.CertKey{
		CertFile: filepath.Join(o.CertDir, "tls.crt"), KeyFile: filepath.Join(o.CertDir, "tls.key"),
	}}
	return secure
}

// storageIn returns how a resource is stored in the database.
func (s serialization) storageIn(d *database) generic.RESTOptions {
	config := storagebackend.NewDefaultConfig("/porch", s.codecs.LegacyCodec(v1alpha1.GroupVersion))
	config.Transport.ServerList = []string{d.address()}
	// A database that exists for minutes needs neither compaction nor a size metric.
	config.CompactionInterval, config.DBMetricPollInterval = 0, 0
	return generic.RESTOptions{
		StorageConfig: config.ForResource(v1alpha1.Resource("packagerevisions")),
		Decorator:     generic.UndecoratedStorage, ResourcePrefix: "packagerevisions",
		EnableGarbageCollection: true, DeleteCollectionWorkers: 1,
	}
}

// textual is a serializer that offers only JSON and YAML, because the served kinds have no other encoding. Clients that
// prefer another one, such as the namespace controller, also accept JSON.
type textual struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes leaves out protobuf and CBOR.
func (t textual) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(t.NegotiatedSerializer.SupportedMediaTypes()),
		func(info runtime.SerializerInfo) bool {
			return info.MediaType == runtime.ContentTypeProtobuf || info.MediaType == runtime.ContentTypeCBOR
		})
}

// install adds the resources to the server.
func (s serialization) install(server *genericapiserver.GenericAPIServer, resources map[string]rest.Storage) error {
	group := genericapiserver.NewDefaultAPIGroupInfo(v1alpha1.GroupVersion.Group, s.scheme, metav1.ParameterCodec,
		s.codecs)
	group.NegotiatedSerializer = textual{s.codecs}
	group.VersionedResourcesStorageMap[v1alpha1.GroupVersion.Version] = resources
	if err := server.InstallAPIGroup(&group); err != nil {
		return fmt.Errorf("serve %s: %w", v1alpha1.GroupVersion, err)
	}
	return nil
}

// alwaysAllowed are the paths that need no permission.
func alwaysAllowed() []string {
	return []string{"/healthz", "/readyz", "/livez"}
}
