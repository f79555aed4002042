package apitest

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// discover answers discovery requests.
func discover(kinds []Kind, c *call) (any, *metav1.Status) {
	switch c.resource {
	case "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, nil
	case "apis":
		return groups(kinds), nil
	}
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: c.gv.String(),
	}
	for _, kind := range kinds {
		if kind.GVK.GroupVersion() == c.gv {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: kind.Resource, Kind: kind.GVK.Kind, Namespaced: kind.Namespaced,
				Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
			})
		}
	}
	if len(list.APIResources) == 0 {
		return nil, Status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource")
	}
	return list, nil
}

func group(kinds []Kind, c *call) (any, *metav1.Status) {
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: c.gv.Group}
	for _, kind := range kinds {
		gv := kind.GVK.GroupVersion()
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		if gv.Group == c.gv.Group && !slices.Contains(group.Versions, version) {
			group.Versions = append(group.Versions, version)
		}
	}
	if len(group.Versions) == 0 {
		return nil, Status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource")
	}
	return group, nil
}

// groups returns the groups of the served kinds. A group prefers the version that is served first.
func groups(kinds []Kind) metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, kind := range kinds {
		gv := kind.GVK.GroupVersion()
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		at := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == gv.Group })
		switch {
		case gv.Group == "":
		case at < 0:
			list.Groups = append(list.Groups, metav1.APIGroup{
				Name:     gv.Group,
				Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
			})
		case !slices.Contains(list.Groups[at].Versions, version):
			list.Groups[at].Versions = append(list.Groups[at].Versions, version)
		}
	}
	return list
}
