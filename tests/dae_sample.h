/*
 * dae_sample.h: a small COLLADA file: a ladder of two quads on two joints in centimetres, z up, with a clip.
 */
#ifndef TESTS_DAE_SAMPLE_H
#define TESTS_DAE_SAMPLE_H

#include "testing.h"

static const char dae_sample[] =
    "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<COLLADA version=\"1.4.1\">\n"
    "<asset><unit name=\"cm\" meter=\"0.01\"/><up_axis>Z_UP</up_axis></asset>\n"
    "<library_geometries><geometry id=\"g\" name=\"ladder\"><mesh>\n"
    "<source id=\"gp\"><float_array id=\"gpa\" count=\"18\">-5 0 0 5 0 0 -5 0 10 5 0 10 -5 0 20 5 0 20</float_array>"
    "<technique_common><accessor source=\"#gpa\" count=\"6\" stride=\"3\"/></technique_common></source>\n"
    "<source id=\"gt\"><float_array id=\"gta\" count=\"4\">0 0 1 0.25</float_array>"
    "<technique_common><accessor source=\"#gta\" count=\"2\" stride=\"2\"/></technique_common></source>\n"
    "<vertices id=\"gv\"><input semantic=\"POSITION\" source=\"#gp\"/></vertices>\n"
    "<polylist material=\"skin\" count=\"2\"><input semantic=\"VERTEX\" source=\"#gv\" offset=\"0\"/>"
    "<input semantic=\"TEXCOORD\" source=\"#gt\" offset=\"1\"/><vcount>4 4</vcount>"
    "<p>0 0 1 1 3 1 2 0 2 0 3 1 5 1 4 0</p></polylist></mesh></geometry></library_geometries>\n"
    "<library_controllers><controller id=\"c\"><skin source=\"#g\">"
    "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>\n"
    "<source id=\"cj\"><Name_array id=\"cja\" count=\"2\">lower upper</Name_array></source>\n"
    "<source id=\"cb\"><float_array id=\"cba\" count=\"32\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 "
    "1 0 0 0 0 1 0 0 0 0 1 -10 0 0 0 1</float_array>"
    "<technique_common><accessor source=\"#cba\" count=\"2\" stride=\"16\"/></technique_common></source>\n"
    "<source id=\"cw\"><float_array id=\"cwa\" count=\"2\">1 0.5</float_array></source>\n"
    "<joints><input semantic=\"JOINT\" source=\"#cj\"/><input semantic=\"INV_BIND_MATRIX\" source=\"#cb\"/></joints>\n"
    "<vertex_weights count=\"6\"><input semantic=\"JOINT\" source=\"#cj\" offset=\"0\"/>"
    "<input semantic=\"WEIGHT\" source=\"#cw\" offset=\"1\"/><vcount>1 1 2 2 1 1</vcount>"
    "<v>0 0 0 0 0 1 1 1 0 1 1 1 1 0 1 0</v></vertex_weights></skin></controller></library_controllers>\n"
    "<library_animations><animation id=\"bend\"><source id=\"ai\"><float_array id=\"aia\" count=\"2\">0 "
    "1</float_array></source>"
    "<source id=\"ao\"><float_array id=\"aoa\" count=\"2\">0 90</float_array></source>"
    "<source id=\"ak\"><Name_array id=\"aka\" count=\"2\">LINEAR LINEAR</Name_array></source>\n"
    "<sampler id=\"as\"><input semantic=\"INPUT\" source=\"#ai\"/><input semantic=\"OUTPUT\" source=\"#ao\"/>"
    "<input semantic=\"INTERPOLATION\" source=\"#ak\"/></sampler>"
    "<channel source=\"#as\" target=\"n2/turn.ANGLE\"/></animation></library_animations>\n"
    "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n1\" sid=\"lower\" name=\"lower\" type=\"JOINT\">"
    "<node id=\"n2\" sid=\"upper\" name=\"upper\" type=\"JOINT\"><translate>0 0 10</translate>"
    "<rotate sid=\"turn\">0 1 0 0</rotate></node></node>"
    "<node id=\"n3\"><instance_controller url=\"#c\"><skeleton>#n1</skeleton></instance_controller></node>"
    "</visual_scene></library_visual_scenes>\n<scene><instance_visual_scene url=\"#s\"/></scene>\n</COLLADA>\n";

/* The same with a morph below the skin and its animated weight, a Bezier curve, and a node of a library. Free it. */
static inline char *dae_sample_rich(void)
{
    return text_changed(
        dae_sample,
        (const char *[]){
            "<skin source=\"#g\">", "<skin source=\"#m\">", "<library_controllers>",
            "<library_controllers><controller id=\"m\"><morph source=\"#g\">"
            "<source id=\"mt\"><IDREF_array count=\"1\">g2</IDREF_array></source>"
            "<source id=\"mw\"><float_array id=\"mwa\" count=\"1\">0.5</float_array></source>"
            "<targets><input semantic=\"MORPH_TARGET\" source=\"#mt\"/>"
            "<input semantic=\"MORPH_WEIGHT\" source=\"#mw\"/></targets></morph></controller>",
            "<library_geometries>",
            "<library_geometries><geometry id=\"g2\" name=\"bulge\"><mesh><source id=\"hp\">"
            "<float_array id=\"hpa\" count=\"18\">-5 0 0 5 0 0 -5 0 10 5 0 10 -5 0 20 5 -4 20</float_array>"
            "<technique_common><accessor source=\"#hpa\" count=\"6\" stride=\"3\"/></technique_common>"
            "</source><vertices id=\"hv\"><input semantic=\"POSITION\" source=\"#hp\"/></vertices>"
            "<tristrips count=\"1\"><input semantic=\"VERTEX\" source=\"#hv\" offset=\"0\"/><p>0 1 2 3</p>"
            "</tristrips></mesh></geometry>",
            ">LINEAR LINEAR<", ">BEZIER HERMITE<", "<sampler id=\"as\">",
            "<source id=\"ti\"><float_array count=\"4\">0 0 0.6 90</float_array></source>"
            "<source id=\"to\"><float_array count=\"4\">0.3 0 0 0</float_array></source>"
            "<sampler id=\"as\"><input semantic=\"IN_TANGENT\" source=\"#ti\"/>"
            "<input semantic=\"OUT_TANGENT\" source=\"#to\"/>",
            "</animation>", "<channel source=\"#as\" target=\"mw(0)\"/></animation>", "<library_visual_scenes>",
            "<library_nodes><node id=\"plate\"><instance_geometry url=\"#g2\"/></node></library_nodes>"
            "<library_visual_scenes>",
            "<node id=\"n3\">", "<node id=\"n3\"><instance_node url=\"#plate\"/>", NULL});
}

#endif
