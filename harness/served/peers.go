package served

import (
	"context"
	"encoding/json"
	"fmt"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ExpectPeers says that the API server forwards requests for kinds that only its peers serve (KEP-4020). Only
// aggregated discovery lists these kinds.
func (k *Kinds) ExpectPeers() { k.peers = true }

// aggregated requests the discovery of all groups, including the kinds of peers.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// fetchUnion returns what the API server and its peers serve of a version.
func (k *Kinds) fetchUnion(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	data, err := k.client.Get().AbsPath("/apis").SetHeader("Accept", aggregated).Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("ask the API server which kinds of %s its peers serve: %w", gv, err)
	}
	var list discoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read which kinds of %s the API server's peers serve: %w", gv, err)
	}
	var all []metav1.APIResource
	for _, group := range list.Items {
		for _, version := range group.Versions {
			if group.Name != gv.Group || version.Version != gv.Version {
				continue
			}
			for _, resource := range version.Resources {
				if resource.ResponseKind == nil {
					continue
				}
				all = append(all, metav1.APIResource{
					Name: resource.Resource, Kind: resource.ResponseKind.Kind,
					Namespaced: resource.Scope == discoveryv2.ScopeNamespace, Verbs: resource.Verbs,
				})
			}
		}
	}
	return all, nil
}
