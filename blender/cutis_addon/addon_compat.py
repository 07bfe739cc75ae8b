"""What differs between versions of Blender (3.4 to 4.x), all in one place."""
import bpy

VERSION = bpy.app.version


def move_modifier(thing, name, index):
    """Put a modifier of an object at a place in its stack."""
    if hasattr(thing.modifiers, "move"):  # from 4.0 on
        thing.modifiers.move(thing.modifiers.find(name), index)
        return
    with bpy.context.temp_override(object=thing, active_object=thing, selected_objects=[thing]):
        bpy.ops.object.modifier_move_to_index(modifier=name, index=index)


def color_attribute(mesh, name):
    """The colour attribute of that name, one colour a vertex; made when it is not there."""
    found = mesh.color_attributes.get(name)
    if found is None:
        found = mesh.color_attributes.new(name, "FLOAT_COLOR", "POINT")
    mesh.color_attributes.active_color = found
    return found


def flat_shader():
    import gpu
    return gpu.shader.from_builtin("UNIFORM_COLOR" if VERSION >= (4, 0, 0) else "2D_UNIFORM_COLOR")


def action_curves(action, block):
    """The F-curves of an action; from 4.4 on they are in a slot."""
    if VERSION < (4, 4, 0):
        return action.fcurves
    slot = action.slots[0] if action.slots else action.slots.new("KEY", block.name)
    layer = action.layers[0] if action.layers else action.layers.new("cutis")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def curves_of(action):
    """All F-curves of an action, of whichever slot."""
    if hasattr(action, "fcurves"):
        return action.fcurves
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves]
