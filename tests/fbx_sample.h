/*
 * fbx_sample.h: a small FBX file in memory: a ladder of two quads on two bones in centimetres, z up, the second bone
 * with a pre-rotation and a pivot, a blend shape, texture coordinates and a clip. As text, and made binary from that.
 */
#ifndef TESTS_FBX_SAMPLE_H
#define TESTS_FBX_SAMPLE_H

#include "testing.h"

static const char fbx_sample[] =
    "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7400\n}\nGlobalSettings:  {\n\tProperties70:  {\n"
    "\t\tP: \"UpAxis\", \"int\", \"Integer\", \"\",2\n\t\tP: \"UpAxisSign\", \"int\", \"Integer\", \"\",1\n"
    "\t\tP: \"FrontAxis\", \"int\", \"Integer\", \"\",1\n\t\tP: \"FrontAxisSign\", \"int\", \"Integer\", \"\",-1\n"
    "\t\tP: \"CoordAxis\", \"int\", \"Integer\", \"\",0\n\t\tP: \"CoordAxisSign\", \"int\", \"Integer\", \"\",1\n"
    "\t\tP: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n\t}\n}\nObjects:  {\n"
    "\tGeometry: 10, \"Geometry::\", \"Mesh\" {\n"
    "\t\tVertices: *18 {\n\t\t\ta: -5,0,0,5,0,0,-5,0,10,5,0,10,-5,0,20,5,0,20\n\t\t}\n"
    "\t\tPolygonVertexIndex: *8 {\n\t\t\ta: 0,1,3,-3,2,3,5,-5\n\t\t}\n"
    "\t\tLayerElementUV: 0 {\n\t\t\tMappingInformationType: \"ByPolygonVertex\"\n"
    "\t\t\tReferenceInformationType: \"IndexToDirect\"\n\t\t\tUV: *4 {\n\t\t\t\ta: 0,0,1,0.25\n\t\t\t}\n"
    "\t\t\tUVIndex: *8 {\n\t\t\t\ta: 0,1,1,0,0,1,1,0\n\t\t\t}\n\t\t}\n"
    "\t\tLayerElementMaterial: 0 {\n\t\t\tMappingInformationType: \"ByPolygon\"\n\t\t\tMaterials: *2 {\n\t\t\t\ta: "
    "1,0\n"
    "\t\t\t}\n\t\t}\n\t}\n"
    "\tGeometry: 11, \"Geometry::bulge\", \"Shape\" {\n\t\tIndexes: *1 {\n\t\t\ta: 5\n\t\t}\n"
    "\t\tVertices: *3 {\n\t\t\ta: 0,-1,0\n\t\t}\n\t}\n"
    "\tModel: 20, \"Model::ladder\", \"Mesh\" {\n\t}\n"
    "\tModel: 21, \"Model::lower\", \"LimbNode\" {\n\t}\n"
    "\tModel: 22, \"Model::upper\", \"LimbNode\" {\n\t\tProperties70:  {\n"
    "\t\t\tP: \"RotationActive\", \"bool\", \"\", \"\",1\n"
    "\t\t\tP: \"PreRotation\", \"Vector3D\", \"Vector\", \"\",90,0,0\n"
    "\t\t\tP: \"RotationPivot\", \"Vector3D\", \"Vector\", \"\",0,0,3\n"
    "\t\t\tP: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",0,0,10\n\t\t}\n\t}\n"
    "\tMaterial: 30, \"Material::skin\", \"\" {\n\t}\n\tMaterial: 31, \"Material::cloth\", \"\" {\n\t}\n"
    "\tDeformer: 40, \"Deformer::\", \"Skin\" {\n\t}\n"
    "\tDeformer: 41, \"SubDeformer::\", \"Cluster\" {\n\t\tIndexes: *4 {\n\t\t\ta: 0,1,2,3\n\t\t}\n"
    "\t\tWeights: *4 {\n\t\t\ta: 1,1,0.5,0.5\n\t\t}\n"
    "\t\tTransform: *16 {\n\t\t\ta: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1\n\t\t}\n"
    "\t\tTransformLink: *16 {\n\t\t\ta: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1\n\t\t}\n\t}\n"
    /* the pivot is turned by the pre-rotation: p - R p = (0, 3, 3) is added to the place */
    "\tDeformer: 42, \"SubDeformer::\", \"Cluster\" {\n\t\tIndexes: *4 {\n\t\t\ta: 2,3,4,5\n\t\t}\n"
    "\t\tWeights: *4 {\n\t\t\ta: 0.5,0.5,1,1\n\t\t}\n"
    "\t\tTransform: *16 {\n\t\t\ta: 1,0,0,0,0,0,-1,0,0,1,0,0,0,-13,3,1\n\t\t}\n"
    "\t\tTransformLink: *16 {\n\t\t\ta: 1,0,0,0,0,0,1,0,0,-1,0,0,0,3,13,1\n\t\t}\n\t}\n"
    "\tDeformer: 43, \"Deformer::\", \"BlendShape\" {\n\t}\n"
    "\tDeformer: 44, \"SubDeformer::bulge\", \"BlendShapeChannel\" {\n\t\tDeformPercent: 0\n\t}\n"
    "\tAnimationStack: 50, \"AnimStack::bend\", \"\" {\n\t}\n\tAnimationLayer: 51, \"AnimLayer::base\", \"\" {\n\t}\n"
    "\tAnimationCurveNode: 52, \"AnimCurveNode::R\", \"\" {\n\t}\n"
    "\tAnimationCurveNode: 53, \"AnimCurveNode::DeformPercent\", \"\" {\n\t}\n"
    "\tAnimationCurve: 54, \"AnimCurve::\", \"\" {\n\t\tKeyTime: *2 {\n\t\t\ta: 0,46186158000\n\t\t}\n"
    "\t\tKeyValueFloat: *2 {\n\t\t\ta: 0,90\n\t\t}\n\t\tKeyAttrFlags: *1 {\n\t\t\ta: 1032\n\t\t}\n"
    "\t\tKeyAttrDataFloat: *4 {\n\t\t\ta: 0,0,0,0\n\t\t}\n\t\tKeyAttrRefCount: *1 {\n\t\t\ta: 2\n\t\t}\n\t}\n"
    "\tAnimationCurve: 55, \"AnimCurve::\", \"\" {\n\t\tKeyTime: *2 {\n\t\t\ta: 0,46186158000\n\t\t}\n"
    "\t\tKeyValueFloat: *2 {\n\t\t\ta: 0,100\n\t\t}\n\t\tKeyAttrFlags: *1 {\n\t\t\ta: 4\n\t\t}\n"
    "\t\tKeyAttrRefCount: *1 {\n\t\t\ta: 2\n\t\t}\n\t}\n}\n"
    "Connections:  {\n\tC: \"OO\",20,0\n\tC: \"OO\",21,0\n\tC: \"OO\",22,21\n\tC: \"OO\",10,20\n\tC: \"OO\",30,20\n"
    "\tC: \"OO\",31,20\n\tC: \"OO\",40,10\n\tC: \"OO\",41,40\n\tC: \"OO\",42,40\n\tC: \"OO\",21,41\n\tC: \"OO\",22,42\n"
    "\tC: \"OO\",43,10\n\tC: \"OO\",44,43\n\tC: \"OO\",11,44\n\tC: \"OO\",51,50\n\tC: \"OO\",52,51\n\tC: \"OO\",53,51\n"
    "\tC: \"OP\",52,22, \"Lcl Rotation\"\n\tC: \"OP\",53,44, \"DeformPercent\"\n\tC: \"OP\",54,52, \"d|Z\"\n"
    "\tC: \"OP\",55,53, \"d|DeformPercent\"\n}\n";

static inline size_t fbx_word(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(value >> 8 * i);
    return 4;
}

/* The nodes of a text up to the closing brace as records; `at` is where they will stand. Returns the size. */
static inline size_t fbx_records(const char **text, uint8_t *out, size_t at)
{
    size_t size = 0;
    for (;;) {
        while (**text && strchr(" \t\r\n", **text)) (*text)++;
        if (**text == ';') {
            *text += strcspn(*text, "\n");
            continue;
        }
        if (!**text || **text == '}') break;
        size_t name = strcspn(*text, ":"), head = size, count = 0;
        size += 12;
        out[size++] = (uint8_t)name;
        memcpy(out + size, *text, name);
        size += name;
        *text += name + 1;
        size_t values = size;
        for (;; count++) {
            *text += strspn(*text, " \t,*");
            if (strchr("\r\n{", **text)) break;
            if (**text == '"') {
                size_t length = strcspn(++*text, "\"");
                out[size++] = 'S';
                size += fbx_word(out + size, (uint32_t)length);
                memcpy(out + size, *text, length);
                size += length;
                *text += length + 1;
            } else {
                double value = strtod(*text, (char **)text);
                uint64_t bits;
                memcpy(&bits, &value, 8);
                bool whole = value == floor(value);
                if (whole) bits = (uint64_t)(int64_t)value;
                out[size++] = whole ? 'L' : 'D';
                for (int i = 0; i < 8; i++) out[size++] = (uint8_t)(bits >> 8 * i);
            }
        }
        fbx_word(out + head + 4, (uint32_t)count);
        fbx_word(out + head + 8, (uint32_t)(size - values));
        if (**text == '{') {
            ++*text;
            size += fbx_records(text, out + size, at + size);
            ++*text;
            memset(out + size, 0, 13);
            size += 13;
        }
        fbx_word(out + head, (uint32_t)(at + size));
    }
    return size;
}

static inline size_t fbx_sample_binary(uint8_t *out)
{
    const char *text = fbx_sample;
    memcpy(out, "Kaydara FBX Binary  \0\x1a\0", 23);
    fbx_word(out + 23, 7400);
    size_t size = 27 + fbx_records(&text, out + 27, 27);
    memset(out + size, 0, 13);
    return size + 13;
}

/* The text with a second animation layer, half as strong, and an in-between shape. Free it. */
static inline char *fbx_sample_rich(void)
{
    return text_changed(
        fbx_sample,
        (const char *[]){
            "\tAnimationCurveNode: 52",
            "\tAnimationLayer: 61, \"AnimLayer::more\", \"\" {\n\t\tProperties70:  {\n"
            "\t\t\tP: \"BlendMode\", \"enum\", \"\", \"\",2\n\t\t\tP: \"Weight\", \"Number\", \"\", "
            "\"A\",50\n\t\t}\n\t}\n"
            "\tAnimationCurveNode: 62, \"AnimCurveNode::R\", \"\" {\n\t}\n"
            "\tAnimationCurve: 64, \"AnimCurve::\", \"\" {\n\t\tKeyTime: *2 {\n\t\t\ta: 0,46186158000\n\t\t}\n"
            "\t\tKeyValueFloat: *2 {\n\t\t\ta: 40,40\n\t\t}\n\t\tKeyAttrFlags: *1 {\n\t\t\ta: 4\n\t\t}\n"
            "\t\tKeyAttrRefCount: *1 {\n\t\t\ta: 2\n\t\t}\n\t}\n\tAnimationCurveNode: 52",
            "\tC: \"OO\",52,51\n",
            "\tC: \"OO\",52,51\n\tC: \"OO\",61,50\n\tC: \"OO\",62,61\n\tC: \"OP\",62,22, \"Lcl Rotation\"\n"
            "\tC: \"OP\",64,62, \"d|Z\"\n",
            "\tModel: 20,",
            "\tGeometry: 12, \"Geometry::half\", \"Shape\" {\n\t\tIndexes: *1 {\n\t\t\ta: 4\n\t\t}\n"
            "\t\tVertices: *3 {\n\t\t\ta: 2,0,0\n\t\t}\n\t}\n\tModel: 20,",
            "DeformPercent: 0\n", "DeformPercent: 0\n\t\tFullWeights: *2 {\n\t\t\ta: 40,100\n\t\t}\n",
            "\tC: \"OO\",11,44\n", "\tC: \"OO\",12,44\n\tC: \"OO\",11,44\n", NULL});
}

#endif
